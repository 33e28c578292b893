#include <stdio.h>
#define LIMIT 10

/* if (a == b)
   c < d */
static int add(int a, int b) {
    int sum = a + b;
    if (sum > LIMIT || b == 0) {
        fprintf(stderr, "too much: %d\n", sum);
        return -1;
    }
    total = sum;
    notify(sum, 'x', "done");
    return sum;
}
