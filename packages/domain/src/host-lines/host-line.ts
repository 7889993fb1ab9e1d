/**
 * Host lines in prompts. Before the text of somebody else, one line names the writer and the way it came. Its facts are
 * JSON, so a name stays inside a string. The text below cannot forge such a line: a line that looks like one, of any kind,
 * gets `> ` in front.
 */
import { jsonLine } from './json-line.ts';

/** Every kind of host line in prompts. */
export const hostMarks = ['channel message', 'scheduled run', 'agent message', 'hook message', 'call outcome'] as const;
export type HostMark = (typeof hostMarks)[number];

/** Writes a host line, the only way to do so: `facts` on one line, and below it the text of somebody else. */
export const hostMessage = (mark: HostMark, facts: object, text: string): string =>
  `[${mark} ${jsonLine(facts)}]\n${quoteHostLines(text)}`;

/**
 * Quotes lines that look like a host's. A reader accepts any line end: those of Unicode, and the separators of ASCII. Linear
 * in the length of the text.
 */
const quoteHostLines = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  text.replaceAll(/[^\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]+/g, (line) => (looksLikeMark(line) ? `> ${line}` : line));

const letters = hostMarks.map((mark) => mark.replaceAll(' ', ''));

/**
 * Whether the letters of a line begin like a mark, behind any sign such as a bracket. Characters without width, spaces,
 * signs between the letters, accents, case and forms of width are ignored. Letters that look like those of the marks count
 * as them.
 */
function looksLikeMark(line: string): boolean {
  let seen = '';
  let hasSign = false;
  for (const character of line) {
    for (const part of plainOf(character).normalize('NFKD').toLowerCase()) {
      const letter = lookAlikes.get(part) ?? part;
      if (isUnseen.test(letter)) continue;
      if (isLetter.test(letter)) seen += letter;
      else hasSign ||= seen === '' && isSign.test(letter);
      if (letters.includes(seen)) return hasSign;
      if (seen !== '' && !letters.some((mark) => mark.startsWith(seen))) return false;
    }
  }
  return false;
}

/** Some letters have no width, such as the filler of Hangul. */
const isUnseen = /\p{Default_Ignorable_Code_Point}/u;
const isLetter = /[\p{L}\p{N}]/u;
const isSign = /[\p{P}\p{S}]/u;

/** Code points that stand for ASCII: tags, which no person sees, and letters in filled circles and squares. */
const writtenBy: readonly (readonly [from: number, to: number, ascii: number])[] = [
  [0xe0020, 0xe007e, 0x20],
  [0x1f150, 0x1f169, 0x61],
  [0x1f170, 0x1f189, 0x61],
  [0x1f1e6, 0x1f1ff, 0x61],
];
function plainOf(character: string): string {
  const point = character.codePointAt(0)!;
  const found = point < 0x1f150 ? undefined : writtenBy.find(([from, to]) => point >= from && point <= to);
  return found ? String.fromCharCode(point - found[0] + found[2]) : character;
}

/** Letters of other alphabets and signs that are drawn like the marks' letters. A reader can tell all others apart. */
const alike: Readonly<Record<string, string>> = {
  a: 'аαɑᴀꓮꭺ',
  c: 'сϲᴄⅽꓚꮯ',
  d: 'ԁᴅⅾꓓꭰ',
  e: 'еεєᴇℯꓰꭼ',
  g: 'ɡցɢꓖꮐ',
  h: 'һհʜнꓧꮋ',
  k: 'кκᴋꓗꮶ',
  l: 'ӏιı1|iʟⅼꓡꮮ',
  m: 'мᴍⅿμꓟꮇ',
  n: 'ոηɴпꓠꮑ',
  o: 'оοօᴏσ0ꓳ',
  r: 'гʀᴦꓣꭱ',
  s: 'ѕꜱ5ʂꓢꮪ',
  t: 'тτᴛꓔꭲ',
  u: 'υսᴜцꓴ',
};
const lookAlikes = new Map(
  Object.entries(alike).flatMap(([letter, others]) => others.split('').map((other) => [other, letter])),
);
