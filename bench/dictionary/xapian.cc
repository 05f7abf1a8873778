// Xapian's part of `bench/run dictionary`: the same experiment as
// crates/ken-index/benches/dictionary.rs on a glass database of the same terms.
//
//   xapian DATABASE TERMS HITS HALF THREADS...    the database is made if it is not there
#include <sys/stat.h>
#include <time.h>
#include <xapian.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

using Terms = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

static Terms lines(const char* path) {
    std::ifstream file(path);
    Terms all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
}

static void build(const std::string& path, const Terms& terms) {
    std::string making = path + ".making";
    {
        Xapian::WritableDatabase database(making, Xapian::DB_CREATE_OR_OVERWRITE);
        Xapian::Document document;
        size_t count = 0;
        for (const std::string& term : terms) {
            if (term.size() > 200) continue;  // Xapian's limit is 245 bytes
            document.add_term(term);
            if (++count % 9000 == 0) {
                database.add_document(document);
                document = Xapian::Document();
            }
        }
        database.add_document(document);
        database.commit();
    }
    Xapian::Database(making).compact(path);
}

static double cpu_ns() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void measure(const char* path, size_t n_terms, const char* set, const Terms& terms, size_t n) {
    size_t rounds = std::max<size_t>(1, 400000 / terms.size() / n);
    std::vector<double> cpu(n);
    std::vector<std::vector<long>> times(n);
    std::vector<size_t> found(n);
    std::vector<Clock::time_point> starts(n), ends(n);
    std::barrier start(n + 1);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < n; t++)
        threads.emplace_back([&, t] {
            Xapian::Database database(path);  // its objects are not for several threads
            Terms order = terms;
            std::shuffle(order.begin(), order.end(), std::mt19937(t + 100));
            for (const auto& term : order) found[t] += database.term_exists(term);
            start.arrive_and_wait();
            starts[t] = Clock::now();
            double begin = cpu_ns();
            for (size_t round = 0; round < rounds; round++)
                for (const auto& term : order) database.term_exists(term);
            cpu[t] = cpu_ns() - begin;
            ends[t] = Clock::now();
            start.arrive_and_wait();
            start.arrive_and_wait();
            for (const auto& term : order) {
                auto before = Clock::now();
                database.term_exists(term);
                times[t].push_back(
                    std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - before).count());
            }
        });
    start.arrive_and_wait();
    start.arrive_and_wait();
    auto first = *std::min_element(starts.begin(), starts.end());
    double wall = std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) - first).count();
    start.arrive_and_wait();
    double cpu_sum = 0, sum = 0;
    std::vector<long> all;
    for (size_t t = 0; t < n; t++) {
        threads[t].join();
        cpu_sum += cpu[t];
        all.insert(all.end(), times[t].begin(), times[t].end());
    }
    std::sort(all.begin(), all.end());
    for (long time : all) sum += time;
    double lookups = double(n) * rounds * terms.size();
    std::printf("{\"program\":\"xapian\",\"segments\":1,\"terms\":%zu,\"set\":\"%s\",\"found\":%zu,\"threads\":%zu,"
                "\"lookups_per_second\":%.0f,\"cpu_ns\":%.0f,\"mean_ns\":%.0f,\"p99_ns\":%ld}\n",
                n_terms, set, found[0], n, lookups / wall, cpu_sum / lookups, sum / all.size(),
                all[all.size() * 99 / 100]);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc < 6) return 2;
    Terms terms = lines(argv[2]);
    struct stat there;
    if (stat(argv[1], &there) != 0) build(argv[1], terms);
    size_t n_terms = terms.size();
    Terms().swap(terms);
    for (int set = 3; set < 5; set++)
        for (int at = 5; at < argc; at++)
            measure(argv[1], n_terms, set == 3 ? "hits" : "half", lines(argv[set]), std::stoul(argv[at]));
}
