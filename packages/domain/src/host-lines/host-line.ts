/**
 * Lines of the host in prompts: before what others wrote, one line says who wrote and how it came. Facts in it are JSON, so what stands
 * in a name stays inside a string. A text below it cannot forge such a line: lines that look like one, of whichever kind, begin with `> `.
 */
import { jsonLine } from './json-line.ts';

/** Every kind of line that the host writes into a prompt. */
export const hostMarks = ['channel message', 'scheduled run', 'agent message', 'hook message'] as const;
export type HostMark = (typeof hostMarks)[number];

/** The only way to write a line of the host: `facts` on one line, and below it the text of somebody else. */
export const hostMessage = (mark: HostMark, facts: object, text: string): string =>
  `[${mark} ${jsonLine(facts)}]\n${quoteHostLines(text)}`;

/** A reader takes any end of a line for one: those of Unicode, and the separators of ASCII. Linear in the length of the text. */
const quoteHostLines = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  text.replaceAll(/[^\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]+/g, (line) => (looksLikeMark(line) ? `> ${line}` : line));

const letters = hostMarks.map((mark) => mark.replaceAll(' ', ''));

/**
 * Whether the letters of a line begin as a mark does, behind any sign such as a bracket. What has no width, spaces, signs between the
 * letters, accents, case and forms of width are passed over, and letters that look like those of the marks are taken for them.
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

/** ASCII written by code points that stand for it: tags, which no person sees, and letters in filled circles and squares. */
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

/** Of the letters of the marks, those of other alphabets and signs that are drawn alike. Others are told from them by a reader. */
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
