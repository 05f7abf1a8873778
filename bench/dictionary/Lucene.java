// Lucene's part of `bench/run dictionary`: the same experiment as
// crates/ken-index/benches/dictionary.rs on one segment of the same terms.
//
//   java -cp lucene-core.jar Lucene.java INDEX TERMS HITS HALF THREADS...
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.CyclicBarrier;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

public class Lucene {
    public static void main(String[] args) throws Exception {
        Path path = Path.of(args[0]);
        List<String> terms = Files.readAllLines(Path.of(args[1]));
        if (!Files.exists(path.resolve("done"))) build(path, terms);
        int count = terms.size();
        terms = null;
        try (DirectoryReader reader = DirectoryReader.open(new MMapDirectory(path))) {
            LeafReader leaf = reader.leaves().get(0).reader();
            for (int set = 2; set < 4; set++) {
                List<String> sample = Files.readAllLines(Path.of(args[set]));
                measure(leaf, count, "warm", sample, 1); // the compiler's turn
                for (int at = 4; at < args.length; at++)
                    measure(leaf, count, set == 2 ? "hits" : "half", sample, Integer.parseInt(args[at]));
            }
        }
    }

    static void build(Path path, List<String> terms) throws Exception {
        IndexWriterConfig config = new IndexWriterConfig(new Analyzer() {
            @Override protected TokenStreamComponents createComponents(String field) { return null; }
        });
        config.setRAMBufferSizeMB(512);
        try (IndexWriter writer = new IndexWriter(new MMapDirectory(path), config)) {
            for (int start = 0; start < terms.size(); start += 9000) {
                Document document = new Document();
                for (String term : terms.subList(start, Math.min(start + 9000, terms.size())))
                    document.add(new StringField("t", term, Field.Store.NO));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
        Files.createFile(path.resolve("done"));
    }

    static void measure(LeafReader leaf, int count, String set, List<String> sample, int n) throws Exception {
        int rounds = Math.max(1, (set.equals("warm") ? 2_000_000 : 1_000_000) / sample.size() / n);
        long[] cpu = new long[n], starts = new long[n], ends = new long[n];
        int[] found = new int[n];
        long[][] times = new long[n][sample.size()];
        CyclicBarrier barrier = new CyclicBarrier(n + 1);
        Thread[] threads = new Thread[n];
        var clock = ManagementFactory.getThreadMXBean();
        for (int t = 0; t < n; t++) {
            int number = t;
            threads[t] = new Thread(() -> {
                try {
                    List<String> order = new ArrayList<>(sample);
                    Collections.shuffle(order, new Random(number + 100));
                    BytesRef[] terms = order.stream().map(BytesRef::new).toArray(BytesRef[]::new);
                    TermsEnum dictionary = leaf.terms("t").iterator();
                    for (BytesRef term : terms) if (dictionary.seekExact(term)) found[number]++;
                    barrier.await();
                    starts[number] = System.nanoTime();
                    long begin = clock.getCurrentThreadCpuTime();
                    for (int round = 0; round < rounds; round++)
                        for (BytesRef term : terms) dictionary.seekExact(term);
                    cpu[number] = clock.getCurrentThreadCpuTime() - begin;
                    ends[number] = System.nanoTime();
                    barrier.await();
                    barrier.await();
                    for (int i = 0; i < terms.length; i++) {
                        long before = System.nanoTime();
                        dictionary.seekExact(terms[i]);
                        times[number][i] = System.nanoTime() - before;
                    }
                } catch (Exception error) {
                    throw new RuntimeException(error);
                }
            });
            threads[t].start();
        }
        barrier.await();
        barrier.await();
        double wall = (Arrays.stream(ends).max().orElse(0) - Arrays.stream(starts).min().orElse(0)) / 1e9;
        barrier.await();
        for (Thread thread : threads) thread.join();
        long[] all = Arrays.stream(times).flatMapToLong(Arrays::stream).sorted().toArray();
        double lookups = (double) n * rounds * sample.size();
        if (set.equals("warm")) return;
        System.out.printf(Locale.ROOT, "{\"program\":\"lucene\",\"segments\":1,\"terms\":%d,\"set\":\"%s\",\"found\":%d,"
            + "\"threads\":%d,\"lookups_per_second\":%.0f,\"cpu_ns\":%.0f,\"mean_ns\":%.0f,\"p99_ns\":%d}%n",
            count, set, found[0], n, lookups / wall, Arrays.stream(cpu).sum() / lookups,
            Arrays.stream(all).average().orElse(0), all[all.length * 99 / 100]);
    }
}
