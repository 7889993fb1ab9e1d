/** Near misses: the known word that somebody meant who wrote another. */

const maxChars = 64;

/** Returns the known word that is at most two changes away, or undefined. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > maxChars) return undefined;
  const lower = word.toLowerCase();
  const most = lower.length <= 3 ? 1 : 2;
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const each of known) {
    if (Math.abs(each.length - lower.length) > most) continue;
    const distance = changes(lower, each.toLowerCase());
    if (distance <= most && (best === undefined || distance < best.distance)) best = { word: each, distance };
  }
  return best?.word;
}

/** Returns how many letters must be added, removed, replaced, or swapped with the next one. */
function changes(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let least = Math.min(last[column]! + 1, line[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      line.push(least);
    }
    beforeLast = last;
    last = line;
  }
  return last[to.length]!;
}
