/**
 * Bounds on the cost of Markdown. The parser takes time that grows with the square of some shapes: emphasis and brackets that stay
 * open within a paragraph, quotes and lists within each other, tables with many cells. A text beyond a bound is shown as it is
 * written. The look at it takes time in proportion to its length.
 */

const maxChars = 100_000;
const maxLines = 4000;
const maxNesting = 8;
/** Sum of the squares of the delimiters of each paragraph: about a quarter of a second of the parser. */
const maxDelimiterWork = 4_000_000;
const maxTableCells = 10_000;

/** Characters that are shown of a text that is too large for the parser. */
export const maxPlainChars = 200_000;

/** A quote or a list that begins, at the place of the last match. */
const marker = /[ \t]{0,4}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])/y;
const listItem = /^ {0,3}[-+*][ \t]/;
const delimiters = /[*_~[\]]/g;

function isTooDeep(line: string): boolean {
  marker.lastIndex = 0;
  let depth = 0;
  while (depth < maxNesting && marker.test(line)) depth += 1;
  return depth === maxNesting;
}

/** Whether the text is worth the parser's time. */
export function canBeParsed(text: string): boolean {
  if (text.length > maxChars) return false;
  const lines = text.split('\n');
  if (lines.length > maxLines) return false;
  let work = 0;
  let paragraph = { lines: 0, delimiters: 0, pipes: 0 };
  for (const line of lines) {
    if (isTooDeep(line)) return false;
    if (line.trim() === '' || listItem.test(line)) {
      work += paragraph.delimiters ** 2;
      paragraph = { lines: 0, delimiters: 0, pipes: 0 };
    }
    paragraph.lines += 1;
    paragraph.delimiters += line.match(delimiters)?.length ?? 0;
    paragraph.pipes = Math.max(paragraph.pipes, line.split('|').length - 1);
    if (paragraph.lines * paragraph.pipes > maxTableCells) return false;
    if (work + paragraph.delimiters ** 2 > maxDelimiterWork) return false;
  }
  return true;
}

/** Characters that turn the direction of what follows: in a link or a line of code they show something else than there is. */
const turning = /[\u202A-\u202E\u2066-\u2069]/g;

/** Returns the text with a visible sign in place of each character that would change the order of others. */
export const withoutTurning = (text: string): string => text.replaceAll(turning, '\uFFFD');
