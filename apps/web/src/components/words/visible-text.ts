/** Texts that guests and strangers wrote, made safe to read: nothing in them hides, moves or reorders what stands beside them. */

/** Characters without a picture of their own: controls, direction marks, separators and fillers of no width. */
const invisible =
  // oxlint-disable-next-line no-control-regex -- these are the characters looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;
/** Colours of a terminal, which logs are full of. */
// oxlint-disable-next-line no-control-regex -- an escape begins them
const colours = /\u001B\[[\d;:]{0,64}m/g;

/** Returns the text with a visible sign for each invisible character. Tabs and line breaks stay as they are. */
export function visibleText(text: string): string {
  return text.replace(invisible, signOf);
}

/** Returns a line of a log for reading: terminal colours are dropped, other control characters made visible. */
export const visibleLogText = (text: string): string => visibleText(text.replace(colours, '').replaceAll('\r\n', '\n'));

/** Returns a name in one line. */
export const visibleName = (name: string): string =>
  visibleText(name).replaceAll('\n', '⟨LF⟩').replaceAll('\t', '⟨HT⟩');

/** The names of the control characters, from 0 on: few fonts have their pictures. */
const controls =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  );

function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x7f) return '⟨DEL⟩';
  return `⟨${controls[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}⟩`;
}
