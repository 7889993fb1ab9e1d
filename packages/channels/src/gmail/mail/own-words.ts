/**
 * Extracts the sender's own words from a mail, without the older mails below them and without the signature. Line by line,
 * in linear time.
 *
 * Only in an answer there is something older to cut, and only at its end: quotes with words below them are what the words
 * are about. Where nothing would be left, everything stays. (The expressions of email-reply-parser take time that grows with
 * the third power of a line, and cut at words like "Cheers".)
 */

/** Bound on a line, and on the words that introduce a quote. */
const maxLineChars = 400;
const maxIntroductionLines = 3;
const maxSignatureLines = 20;

/** `isAnswer`: the mail names one that it answers, and does not forward it. */
export function ownWords(text: string, isAnswer: boolean): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
  let end = lines.length;
  if (isAnswer) {
    end = Math.min(separatorIn(lines, end), introductionIn(lines, end));
    end = quoteAtEnd(lines, end);
  }
  end = signatureAtEnd(lines, end);
  const own = lines.slice(0, end).join('\n').trim();
  return own === '' ? text.trim() : own;
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';
const isQuote = (line: string | undefined): boolean => line?.startsWith('>') ?? false;

const separators = new Set([
  'original message',
  'original appointment',
  'ursprüngliche nachricht',
  'originalnachricht',
  "message d'origine",
  'mensaje original',
  'messaggio originale',
  'oorspronkelijk bericht',
  'mensagem original',
  'ursprungligt meddelande',
  'oprindelig meddelelse',
]);
const fromWords = ['from:', 'von:', 'de:', 'de :', 'da:', 'van:', 'från:', 'fra:'];
const sentWords = [
  'sent:', 'date:', 'gesendet:', 'datum:', 'envoyé:', 'envoyé :', 'enviado:', 'enviado el:', 'inviato:', 'data:', 'verzonden:', 'skickat:', 'sendt:',
]; // prettier-ignore

/** Finds where Outlook puts the older mail: after a separating line, or after its header in the language of the letter. */
function separatorIn(lines: readonly string[], end: number): number {
  for (let at = 0; at < end; at += 1) {
    const line = lines[at]!.slice(0, maxLineChars).trim().toLowerCase();
    if (line.startsWith('--') && separators.has(withoutDashes(line))) return at;
    if (fromWords.some((word) => bare(line).startsWith(word)) && isSentBelow(lines, at)) {
      const isRule = at > 0 && /^_{8,}$/.test(lines[at - 1]!.slice(0, maxLineChars).trim());
      return isRule ? at - 1 : at;
    }
  }
  return end;
}

const isSentBelow = (lines: readonly string[], at: number): boolean =>
  lines.slice(at + 1, at + 4).some((each) => {
    const line = bare(each.slice(0, maxLineChars).trim().toLowerCase());
    return sentWords.some((word) => line.startsWith(word));
  });

/** Outlook writes these words bold, which is stars in plain text. */
const bare = (line: string): string => line.replaceAll('*', '');

function withoutDashes(line: string): string {
  let from = 0;
  let to = line.length;
  while (from < to && '- '.includes(line[from]!)) from += 1;
  while (to > from && '- '.includes(line[to - 1]!)) to -= 1;
  return line.slice(from, to);
}

/** First and last words of the line that introduces a quote, where the quote itself may be unmarked. */
const introductions: readonly (readonly [string, readonly string[]])[] = [
  ['on ', ['wrote:']],
  ['am ', ['schrieb:', '>:', 'schrieb']],
  ['le ', ['écrit :', 'écrit:', 'écrit\u00a0:']],
  ['el ', ['escribió:']],
  ['il ', ['scritto:']],
  ['em ', ['escreveu:']],
  ['op ', ['schreef:', '>:']],
  ['den ', ['skrev:', '>:']],
];

function introductionIn(lines: readonly string[], end: number): number {
  for (let at = 0; at < end; at += 1) {
    const start = lines[at]!.slice(0, maxLineChars).trim().toLowerCase();
    const [, endings] = introductions.find(([word]) => start.startsWith(word)) ?? [];
    if (!endings) continue;
    let joined = '';
    for (const line of lines.slice(at, Math.min(end, at + maxIntroductionLines))) {
      if (isBlank(line)) break;
      joined = `${joined} ${line.slice(0, maxLineChars).trim().toLowerCase()}`;
      if (!endings.some((ending) => joined.endsWith(ending)) || !isDated(joined)) continue;
      // With marks, `quoteAtEnd` looks whether words follow.
      if (!lines.slice(at, end).some(isQuote)) return at;
      break;
    }
  }
  return end;
}

/** A year, a time or an address. */
const isDated = (line: string): boolean => /\b20\d\d\b|\d[:.h]\d\d|@/.test(line);

/** Marked lines at the end, with the words that introduce them. */
function quoteAtEnd(lines: readonly string[], end: number): number {
  let at = signatureAtEnd(lines, end);
  while (at > 0 && isBlank(lines[at - 1])) at -= 1;
  if (!isQuote(lines[at - 1])) return end;
  while (at > 0 && (isQuote(lines[at - 1]) || isBlank(lines[at - 1]))) at -= 1;
  return introductionAbove(lines, at);
}

function introductionAbove(lines: readonly string[], end: number): number {
  if (!lines[end - 1]?.trim().endsWith(':')) return end;
  let joined = '';
  for (let at = end - 1; at >= Math.max(0, end - maxIntroductionLines) && !isBlank(lines[at]); at -= 1) {
    joined = `${lines[at]!.slice(0, maxLineChars)} ${joined}`;
    if (isDated(joined) && /^\s*(?:[a-zà-ÿ]{1,4}[. ]|\d)/i.test(joined)) return at;
  }
  return isDated(joined) ? end - 1 : end;
}

const phoneWords = [
  'sent from my ', 'get outlook for ', 'sent from outlook', 'von meinem ', 'gesendet von ', 'envoyé de mon ', 'enviado desde mi ', 'inviato da ', 'verstuurd vanaf ',
]; // prettier-ignore

/** From the line of two dashes on (RFC 3676), or a telephone's own advertisement. */
function signatureAtEnd(lines: readonly string[], end: number): number {
  let last = end;
  while (last > 0 && isBlank(lines[last - 1])) last -= 1;
  for (let at = last - 1; at >= Math.max(0, last - maxSignatureLines); at -= 1) {
    if (lines[at] === '-- ' || lines[at] === '--') return at;
  }
  const line = lines[last - 1]?.slice(0, maxLineChars).trim().toLowerCase() ?? '';
  return line.length <= 80 && phoneWords.some((word) => line.startsWith(word)) ? last - 1 : end;
}
