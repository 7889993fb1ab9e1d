/** Which of `candidates` (at least one) `text` was most likely meant to be: the fewest letters to add, drop or change. */
export function nearest(text: string, candidates: readonly string[]): string {
  return candidates.reduce((best, candidate) => (distance(text, candidate) < distance(text, best) ? candidate : best));
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
