// Learns the evaluation of Breakthrough on 8 x 8 from self-play: weights of all contents of the 36 squares of three by
// three cells, from the view of the seat to move. `breakthrough_evaluation.py` makes a model of its output.
//
//   g++ -O3 -march=native -o learn benchmarks/breakthrough_evaluation.cpp && ./learn SECONDS GAMES SEED weights.f32
//
// An iteration plays GAMES games by a search of one or two plies and of captures beyond them, and moves every weight
// towards the mean error of the positions that it has a part in. The target of a position is the lambda-return of the
// values of the searches, which ends in the game's result. While it learns, the weight of a square's contents is the
// sum of its own, one shared by the squares of a row, and those of smaller blocks: rare contents learn from frequent.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

typedef uint64_t u64;

const int CODES9 = 19683, CODES6 = 729, SQUARES = 36, BLOCKS = 84, CELLS = 64;
const int OF_ROWS = SQUARES * CODES9;             // offsets of the shared weights, the blocks and the cells
const int OF_BLOCKS = OF_ROWS + 6 * CODES9;
const int OF_CELLS = OF_BLOCKS + BLOCKS * CODES6;
const int WEIGHTS = OF_CELLS + 3 * CELLS;
const int ACTIVE = SQUARES + SQUARES + BLOCKS + CELLS;  // weights of a position
const int PLIES = 200;                            // the most that are recorded
const float WIN = 100.0f;                         // logit
const u64 A = 0x0101010101010101ull, H = A << 7;  // the outer columns

inline int ternary(int bits) {
    int value = 0, power = 1;
    for (int i = 0; i < 9; i++, power *= 3) value += (bits >> i & 1) * power;
    return value;
}

inline u64 flip(u64 x) {  // upside down
    x = (x >> 8 & 0x00FF00FF00FF00FFull) | (x & 0x00FF00FF00FF00FFull) << 8;
    x = (x >> 16 & 0x0000FFFF0000FFFFull) | (x & 0x0000FFFF0000FFFFull) << 16;
    return x >> 32 | x << 32;
}

inline u64 mirror(u64 x) {  // left and right
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    return (x >> 4 & 0x0F0F0F0F0F0F0F0Full) | (x & 0x0F0F0F0F0F0F0F0Full) << 4;
}

inline int lowest(u64 x) {
    return __builtin_ctzll(x);
}

inline int count(u64 x) {
    return __builtin_popcountll(x);
}

struct Random {
    u64 state;
    u64 next() {
        u64 z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        return z ^ z >> 31;
    }
    int below(int n) { return int((next() >> 33) % u64(n)); }
    float uniform() { return float(next() >> 40) * (1.0f / 16777216.0f); }
};

inline int bits9(u64 x, int at) {
    return int(x >> at & 7) | int(x >> (at + 8) & 7) << 3 | int(x >> (at + 16) & 7) << 6;
}

// The logit that the seat to move wins; its own pieces are `m`, and it moves up. `t9`: ternary(bits).
inline float evaluate(const float* folded, const short* t9, u64 m, u64 t) {
    float sum = 0;
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) {
            int at = 8 * r + c;
            sum += folded[(r * 6 + c) * CODES9 + t9[bits9(m, at)] + 2 * t9[bits9(t, at)]];
        }
    return fminf(fmaxf(sum, -20.0f), 20.0f);
}

// The seat to move reaches the far row at once, or with its next move, whatever the other does.
inline bool breaks_through(u64 m, u64 t) {
    if (m >> 48) return true;
    if (t & 0xFF00) return false;
    u64 near = m & 0xFFull << 40, guards = t & 0xFFull << 56;
    u64 diagonal = (near & ~A) << 7 | (near & ~H) << 9;
    u64 landing = (diagonal & ~m) | (near << 8 & ~m & ~t);
    return landing & ~((guards & ~A) >> 9 | (guards & ~H) >> 7);
}

struct Moves {  // captures first; destinations by direction
    u64 m, t, to[6];
    int kind;
    Moves(u64 m, u64 t, bool quiet, u64 urgent) : m(m), t(t), kind(0) {
        u64 left = (m & ~A) << 7, right = (m & ~H) << 9, free = ~(m | t), captured = urgent ? urgent : t;
        to[0] = left & captured, to[1] = right & captured;
        bool all = quiet && !urgent;
        to[2] = all ? m << 8 & free : 0, to[3] = all ? left & free : 0, to[4] = all ? right & free : 0;
        to[5] = 1;
    }
    bool next(u64& m2, u64& t2) {
        while (kind < 5 && !to[kind]) kind++;
        if (kind == 5) return false;
        u64 place = to[kind] & (0 - to[kind]);
        to[kind] ^= place;
        int by = kind == 2 ? 8 : (kind == 0 || kind == 3 ? 7 : 9);
        m2 = m ^ place ^ place >> by, t2 = t & ~place;
        return true;
    }
};

const int CAPTURES = 5;  // plies of captures beyond the depth

template <int D>  // plies left; below 0: captures only
struct Search {
    static float value(const float* folded, const short* t9, u64 m, u64 t, float low, float high) {
        if (breaks_through(m, t)) return WIN;
        u64 urgent = t & 0xFF00;
        if (urgent & (urgent - 1)) return -WIN;
        float best = -WIN;
        if (D <= 0 && !urgent) {
            best = evaluate(folded, t9, m, t);
            if (best >= high) return best;
            if (best > low) low = best;
        }
        Moves moves(m, t, D > 0, urgent);
        u64 m2, t2;
        while (moves.next(m2, t2)) {
            float x = t2 ? -Search<D - 1>::value(folded, t9, flip(t2), flip(m2), -high, -low) : WIN;
            if (x > best) best = x;
            if (best > low) low = best;
            if (low >= high) break;
        }
        return best;
    }
};

template <>
struct Search<-CAPTURES> {
    static float value(const float* folded, const short* t9, u64 m, u64 t, float low, float high) {
        return breaks_through(m, t) ? WIN : evaluate(folded, t9, m, t);
    }
};

// The best move and its value; with `random`, a random move.
float choose(const float* folded, const short* t9, int depth, Random& rng, bool random, u64& m, u64& t) {
    u64 urgent = t & 0xFF00, m2, t2, bm = 0, bt = 0;
    int n = 0, same = 0;
    float best = -2 * WIN;
    Moves moves(m, t, true, 0);
    while (moves.next(m2, t2)) {
        n++;
        if (random) {
            if (rng.below(n) == 0) bm = m2, bt = t2;
            continue;
        }
        if (urgent && (t2 & 0xFF00) && n > 1) continue;
        float low = best > -WIN ? best : -WIN, x = WIN;
        if (t2)
            x = depth == 2 ? -Search<1>::value(folded, t9, flip(t2), flip(m2), -WIN, -low + 1e-3f)
                           : -Search<0>::value(folded, t9, flip(t2), flip(m2), -WIN, -low + 1e-3f);
        same = x == best ? same + 1 : 1;
        if (x > best || (x == best && rng.below(same) == 0)) best = x, bm = m2, bt = t2;
    }
    m = flip(bt), t = flip(bm);
    return best;
}

inline void open_game(Random& rng, int plies, u64& m, u64& t, const float* folded, const short* t9) {
    do {
        m = 0xFFFF, t = 0xFFFFull << 48;
        for (int i = 0; i < plies && t && !breaks_through(m, t); i++) choose(folded, t9, 1, rng, true, m, t);
    } while (!m || !t || breaks_through(m, t));
}

struct Records {
    u64 *m, *t;
    float* y;
    unsigned* n;
};

unsigned take(unsigned* n, unsigned k) {
    unsigned old = *n;
    *n += k;
    return old;
}

void add(float* x, float by) {
    *x += by;
}

struct Trace {  // of one game
    u64 m[PLIES], t[PLIES];
    float value[PLIES];
    bool random[PLIES];
};

void play_game(
    int i, const float* folded, const short* t9, Trace* traces, Records records, u64 seed, float lambda, float epsilon
) {
    Random rng{seed * 0x2545F4914F6CDD1Dull + u64(i) * 0x9E3779B97F4A7C15ull};
    rng.next();
    Trace& trace = traces[i];
    u64 m, t;
    open_game(rng, rng.below(17), m, t, folded, t9);
    int n = 0, depth = rng.below(2) + 1;
    while (m && !breaks_through(m, t) && n < PLIES) {
        trace.m[n] = m, trace.t[n] = t;
        u64 m2 = m, t2 = t;
        float x = choose(folded, t9, depth, rng, false, m2, t2);
        trace.value[n] = x >= WIN ? 1.0f : (x <= -WIN ? -1.0f : tanhf(0.5f * x));
        trace.random[n] = rng.uniform() < epsilon;
        if (trace.random[n])
            choose(folded, t9, depth, rng, true, m, t);
        else
            m = m2, t = t2;
        n++;
    }
    float target = m ? 1.0f : -1.0f;  // of the seat to move
    unsigned at = take(records.n, n);
    for (int k = n - 1; k >= 0; k--) {
        target = trace.random[k] ? trace.value[k] : (1 - lambda) * trace.value[k] - lambda * target;
        records.m[at + k] = trace.m[k], records.t[at + k] = trace.t[k], records.y[at + k] = 0.5f + 0.5f * target;
    }
}

// The indices of the weights of a position, one after the other.
template <class F>
inline void each_weight(const short* t9, u64 m, u64 t, F visit) {
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) {
            int code = t9[bits9(m, 8 * r + c)] + 2 * t9[bits9(t, 8 * r + c)];
            visit((r * 6 + c) * CODES9 + code);
            visit(OF_ROWS + r * CODES9 + code);
        }
    for (int r = 0; r < 7; r++)
        for (int c = 0; c < 6; c++) {
            int at = 8 * r + c, mine = bits9(m, at) & 63, theirs = bits9(t, at) & 63;
            visit(OF_BLOCKS + (r * 6 + c) * CODES6 + t9[mine] + 2 * t9[theirs]);
        }
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 7; c++) {
            int code = 0, power = 1;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 2; j++, power *= 3) {
                    int at = 8 * (r + i) + c + j;
                    code += power * (int(m >> at & 1) + 2 * int(t >> at & 1));
                }
            visit(OF_BLOCKS + (42 + r * 7 + c) * CODES6 + code);
        }
    for (int cell = 0; cell < 64; cell++) visit(OF_CELLS + 3 * cell + int(m >> cell & 1) + 2 * int(t >> cell & 1));
}

void learn_from(const float* w, const short* t9, float* slopes, float* visits, Records records, u64 k, float* loss) {
    u64 m = records.m[k], t = records.t[k];
    float y = records.y[k];
    for (int image = 0; image < 2; image++) {
        float x = 0;
        each_weight(t9, m, t, [&](int i) { x += w[i]; });
        float p = 1 / (1 + expf(-x)), slope = p - y;
        if (loss) add(loss, -(y * logf(fmaxf(p, 1e-9f)) + (1 - y) * logf(fmaxf(1 - p, 1e-9f))));
        each_weight(t9, m, t, [&](int i) { add(slopes + i, slope), add(visits + i, 1); });
        m = mirror(m), t = mirror(t);
    }
}

void step(int i, float* w, float* slopes, float* visits, float rate, float damping) {
    if (visits[i] > 0) w[i] -= rate * slopes[i] / (visits[i] + damping);
    slopes[i] = visits[i] = 0;
}

// The sum of all weights within a square of three by three; those of smaller blocks belong to one of their squares.
void fold(int i, const float* w, float* folded) {
    int square = i / CODES9, code = i % CODES9, sr = square / 6, sc = square % 6, digit[9];
    for (int k = 0; k < 9; k++, code /= 3) digit[k] = code % 3;
    float sum = w[i] + w[OF_ROWS + sr * CODES9 + i % CODES9];
    for (int r = sr; r <= (sr == 5 ? 6 : sr); r++) {
        int code6 = 0;
        for (int k = 5; k >= 0; k--) code6 = 3 * code6 + digit[3 * (r - sr) + k];
        sum += w[OF_BLOCKS + (r * 6 + sc) * CODES6 + code6];
    }
    for (int c = sc; c <= (sc == 5 ? 6 : sc); c++) {
        int code6 = 0;
        for (int k = 5; k >= 0; k--) code6 = 3 * code6 + digit[3 * (k / 2) + k % 2 + c - sc];
        sum += w[OF_BLOCKS + (42 + sr * 7 + c) * CODES6 + code6];
    }
    for (int r = sr; r <= (sr == 5 ? 7 : sr); r++)
        for (int c = sc; c <= (sc == 5 ? 7 : sc); c++)
            sum += w[OF_CELLS + 3 * (8 * r + c) + digit[3 * (r - sr) + c - sc]];
    folded[i] = sum;
}

// Whether the first evaluation wins game i; each opening is played twice.
bool first_wins(int i, const float* first, const float* second, const short* t9, u64 seed) {
    Random rng{seed + u64(i / 2) * 0x9E3779B97F4A7C15ull};
    rng.next();
    u64 m, t;
    open_game(rng, 8, m, t, first, t9);
    int seat = i % 2;
    for (; m && !breaks_through(m, t); seat ^= 1) choose(seat ? second : first, t9, 2, rng, false, m, t);
    return (seat == 0) == (m != 0);
}

template <class T>
T* room(size_t n) {
    return (T*)calloc(n, sizeof(T));
}

int main(int argc, char** argv) {
    if (argc != 5) return fprintf(stderr, "usage: learn SECONDS GAMES SEED FILE\n"), 1;
    double seconds = atof(argv[1]);
    int games = atoi(argv[2]), batch = 8192;
    u64 seed = strtoull(argv[3], nullptr, 10);
    short* t9 = room<short>(512);
    for (int bits = 0; bits < 512; bits++) {
        int power = 1;
        for (int i = 0; i < 9; i++, power *= 3) t9[bits] += (bits >> i & 1) * power;
    }
    float *w = room<float>(WEIGHTS), *slopes = room<float>(WEIGHTS), *visits = room<float>(WEIGHTS), *loss = room<float>(1);
    float *folded = room<float>(OF_ROWS), *initial = room<float>(OF_ROWS), *earlier = room<float>(OF_ROWS);
    for (int cell = 0; cell < 64; cell++)  // pieces, and how far they have come
        for (int whose = 0; whose < 2; whose++) {
            float done = float(whose ? 7 - cell / 8 : cell / 8) / 7;
            w[OF_CELLS + 3 * cell + 1 + whose] = (whose ? -1 : 1) * (0.4f + 0.6f * done * done);
        }
    for (int i = 0; i < OF_ROWS; i++) fold(i, w, folded);
    memcpy(initial, folded, OF_ROWS * sizeof(float)), memcpy(earlier, folded, OF_ROWS * sizeof(float));
    Trace* traces = room<Trace>(games);
    size_t most = size_t(games) * PLIES;
    Records records{room<u64>(most), room<u64>(most), room<float>(most), room<unsigned>(1)};
    unsigned* wins = room<unsigned>(1);
    auto began = std::chrono::steady_clock::now();
    auto now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
    double total = 0, looked = 0;
    for (int iteration = 1; now() < seconds; iteration++) {
        float late = float(fmin(1.0, now() / seconds)), epsilon = 0.04f, lambda = 0.75f;
        *records.n = 0;
        for (int i = 0; i < games; i++)
            play_game(i, folded, t9, traces, records, seed + 1000003ull * iteration, lambda, epsilon);
        double played = now();
        unsigned n = *records.n;
        int size = n < unsigned(batch) ? int(n) : batch, steps = int(2.0 * n / size);
        *loss = 0;
        float rate = (late > 0.7f ? 4.0f * (1.03f - late) / 0.33f : 4.0f) / ACTIVE, damping = late < 0.5f ? 4.0f : 15.0f;
        for (int k = 0; k < steps; k++) {
            for (int i = 0; i < size; i++) {
                u64 at = (u64(k) * size + i) * 2654435761ull % n;
                learn_from(w, t9, slopes, visits, records, at, k == 0 ? loss : nullptr);
            }
            for (int i = 0; i < WEIGHTS; i++) step(i, w, slopes, visits, rate, damping);
        }
        for (int i = 0; i < OF_ROWS; i++) fold(i, w, folded);
            total += n;
        if (now() - looked > seconds / 24) {
            looked = now();
            int matches = 200;
            double score[2];
            for (int k = 0; k < 2; k++) {
                *wins = 0;
                for (int i = 0; i < matches; i++) *wins += first_wins(i, folded, k ? earlier : initial, t9, seed + iteration);
                            score[k] = double(*wins) / matches;
            }
            memcpy(earlier, folded, OF_ROWS * sizeof(float));
            printf("%d: %.0f s, %.1f M positions, loss %.4f, against the first %.3f, the one before %.3f, play %.2f s, all %.2f s\n",
                   iteration, now(), total / 1e6, *loss / (2 * size), score[0], score[1], played, now());
            fflush(stdout);
            FILE* file = fopen(argv[4], "wb");
            fwrite(folded, sizeof(float), OF_ROWS, file);
            fclose(file);
        }
    }
    FILE* file = fopen(argv[4], "wb");
    fwrite(folded, sizeof(float), OF_ROWS, file);
    return fclose(file);
}
