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
    for (const part of character.normalize('NFKD').toLowerCase()) {
      const letter = lookAlikes.get(part) ?? part;
      if (isLetter.test(letter)) seen += letter;
      else hasSign ||= seen === '' && isSign.test(letter);
      if (letters.includes(seen)) return hasSign;
      if (seen !== '' && !letters.some((mark) => mark.startsWith(seen))) return false;
    }
  }
  return false;
}

const isLetter = /[\p{L}\p{N}]/u;
const isSign = /[\p{P}\p{S}]/u;

/** Of the letters of the marks, those of other alphabets and signs that are drawn alike. Others are told from them by a reader. */
const alike: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  c: 'сϲᴄⅽ',
  d: 'ԁᴅⅾ',
  e: 'еεєᴇℯ',
  g: 'ɡցɢ',
  h: 'һհʜн',
  k: 'кκᴋ',
  l: 'ӏιı1|iʟⅼ',
  m: 'мᴍⅿμ',
  n: 'ոηɴп',
  o: 'оοօᴏσ0',
  r: 'гʀᴦ',
  s: 'ѕꜱ5ʂ',
  t: 'тτᴛ',
  u: 'υսᴜц',
};
const lookAlikes = new Map(
  Object.entries(alike).flatMap(([letter, others]) => others.split('').map((other) => [other, letter])),
);
