/** Patterns with `*` for any characters, in time proportional to pattern and text. */

/** Returns the place of `piece` in `text` from `from` on, or -1, by Knuth, Morris and Pratt. */
function placeOf(piece: string, text: string, from: number): number {
  const back = fallbackOf(piece);
  for (let at = from, matched = 0; at < text.length; at += 1) {
    while (matched > 0 && text[at] !== piece[matched]) matched = back[matched - 1]!;
    if (text[at] === piece[matched]) matched += 1;
    if (matched === piece.length) return at - matched + 1;
  }
  return -1;
}

function fallbackOf(piece: string): readonly number[] {
  const back = [0];
  for (let at = 1, matched = 0; at < piece.length; at += 1) {
    while (matched > 0 && piece[at] !== piece[matched]) matched = back[matched - 1]!;
    if (piece[at] === piece[matched]) matched += 1;
    back.push(matched);
  }
  return back;
}

/** Whether the whole text fits the pattern. */
export function matchesGlob(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (pieces.length === 1) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const within = text.slice(0, text.length - last.length);
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    if (piece === '') continue;
    const at = placeOf(piece, within, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}
