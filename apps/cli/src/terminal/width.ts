/** Widths in columns of a terminal. The texts are harmless already: without controls, and with few marks per letter. */
import stringWidth from 'string-width';

const ascii = /^[\x20-\x7e]*$/;
/** Marks that stand above, below or around a letter take no column. string-width counts some of them. */
const marks = /[\p{Mn}\p{Me}]/gu;
const segmenter = new Intl.Segmenter();

export const width = (text: string): number =>
  ascii.test(text) ? text.length : stringWidth(text.replaceAll(marks, ''));

/** Returns the text, or its beginning and an ellipsis where it is wider than `most` columns. */
export function cut(text: string, most: number): string {
  if (width(text) <= most) return text;
  let shown = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const wide = width(segment);
    if (used + wide > most - 1) break;
    shown += segment;
    used += wide;
  }
  return `${shown}…`;
}

/** Returns the text with spaces up to `wide` columns. */
export function padded(text: string, wide: number, align?: 'right'): string {
  const space = ' '.repeat(Math.max(0, wide - width(text)));
  return align === 'right' ? space + text : text + space;
}
