/** A text area knows line feeds alone. Files keep the ends of lines that they have. */

export interface LineEnds {
  /** Each line ends with CR LF. */
  readonly isCrLf: boolean;
  /** The ends differ, and saving makes them one kind. */
  readonly isMixed: boolean;
}

export function lineEndsOf(text: string): LineEnds {
  let crLf = 0;
  let other = 0;
  for (let at = text.search(/[\r\n]/); at >= 0 && at < text.length; at += 1) {
    if (text[at] === '\r' && text[at + 1] === '\n') {
      crLf += 1;
      at += 1;
    } else if (text[at] === '\n' || text[at] === '\r') other += 1;
  }
  return { isCrLf: crLf > other, isMixed: crLf > 0 && other > 0 };
}

export const forEditing = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
export const forSaving = (text: string, { isCrLf }: LineEnds): string =>
  isCrLf ? text.replaceAll('\n', '\r\n') : text;
