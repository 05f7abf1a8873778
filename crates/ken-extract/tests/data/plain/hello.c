/* Counts the fossas of a herd. */
#include <stdio.h>

int count_fossas(int n) {
    return n < 2 ? n : count_fossas(n - 1) + 1;
}

int main(void) { printf("%d\n", count_fossas(3)); }
