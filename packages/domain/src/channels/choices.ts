/** Choices below a message: buttons where a platform has them, and a code to answer with elsewhere. */

export interface Choice {
  /** Opaque: at most 64 bytes of `A-Z a-z 0-9 _ -`. It comes back with a press. It is no secret, as it decides nothing alone. */
  readonly token: string;
  /** At most 40 characters. */
  readonly label: string;
}

export const choiceBounds = { most: 6, labelChars: 40 } as const;

/** Whether a text has the form of a token. Telegram takes no longer one. */
export const isChoiceToken = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text);

/** Throws a `RangeError` for choices that a platform may refuse. */
export function assertChoices(choices: readonly Choice[]): void {
  const isWrong = ({ token, label }: Choice): boolean =>
    !isChoiceToken(token) || label.trim() === '' || label.length > choiceBounds.labelChars;
  if (choices.length === 0 || choices.length > choiceBounds.most || choices.some(isWrong)) {
    throw new RangeError('choices beyond their bounds');
  }
}

export interface CodeAnswer {
  /** `yes`, `no`, the number of an option, from 1, or `answer`, which words follow. */
  readonly answer: 'yes' | 'no' | 'answer' | number;
  /** 4 to 8 digits. */
  readonly code: string;
  /** The text behind the code. */
  readonly words: string;
}

/** A longer beginning is no answer. */
const codeAnswerChars = 64;

/**
 * The answer and the code at the beginning of a text, as `yes 4821`; null if it does not begin with them. Quotes and
 * punctuation around the two words are passed over, and what follows does not matter.
 */
export function codeAnswerIn(text: string): CodeAnswer | null {
  const [said = '', code = '', ...rest] = wordsOf(text.slice(0, codeAnswerChars));
  // The cut may have left half a word.
  if (rest.length === 0 && text.length > codeAnswerChars && text.slice(0, codeAnswerChars).endsWith(code)) return null;
  if (!/^\d{4,8}$/.test(code)) return null;
  const word = said.toLowerCase();
  const words = wordsFrom(text, text.indexOf(code) + code.length);
  if (word === 'yes' || word === 'no' || word === 'answer') return { answer: word, code, words };
  return /^[1-6]$/.test(word) ? { answer: Number(word), code, words } : null;
}

const aroundWords = new Set(' \t\r\n\u00a0,.:;!`\'"*_„“”«»‘’()');

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (!aroundWords.has(character)) word += character;
    else if (word !== '') {
      words.push(word);
      word = '';
    }
  }
  return word === '' ? words : [...words, word];
}

/** The text from there on, without the punctuation at its beginning. */
function wordsFrom(text: string, at: number): string {
  let from = at;
  while (from < text.length && from < at + codeAnswerChars && aroundWords.has(text[from]!)) from += 1;
  return text.slice(from).trimEnd();
}
