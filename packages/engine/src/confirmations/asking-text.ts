/**
 * The words that a conversation is asked with: Lodge's own first, then the agent's, quoted. The first line names the call
 * alone, and stays when the message is closed.
 */
import type { Shown } from './shown.ts';

export interface Ways {
  /** Null where buttons are enough. */
  readonly code: string | null;
  readonly isQuestion: boolean;
  readonly digest: string;
  readonly expiresAt: Date;
}

export function askingText(shown: Shown, ways: Ways): string {
  const { isQuestion, digest, expiresAt } = ways;
  const until = `${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return [
    headOf(shown.action, isQuestion),
    ...(shown.quoted === null
      ? []
      : [isQuestion ? 'It asks:' : 'The call, in the agent’s words:', quoted(shown.quoted)]),
    ...(shown.isCut ? ['Only the beginning is shown.'] : []),
    ...(shown.options.length === 0
      ? []
      : [shown.options.map((option, at) => `${at + 1}. ${plain(option)}`).join('\n')]),
    [howOf(shown, ways), `Open until ${until}.`, ...(isQuestion ? [] : [`Digest: ${digest.slice(0, 16)}`])]
      .filter((line) => line !== '')
      .join('\n'),
  ].join('\n\n');
}

const headOf = (action: string, isQuestion: boolean): string =>
  isQuestion ? action : `The agent waits for a yes: ${plain(action)}`;

/** The text that takes the place of a message with this text. */
export const closedText = (text: string, sentence: string): string =>
  `${text.slice(0, text.indexOf('\n') === -1 ? maxHeadChars : Math.min(text.indexOf('\n'), maxHeadChars))}\n\n${sentence}`;

const maxHeadChars = 1_300;

function howOf({ options }: Shown, { code, isQuestion }: Ways): string {
  if (code === null) return '';
  if (!isQuestion) return `Answer \`yes ${code}\` or \`no ${code}\`.`;
  if (options.length === 0) return `Answer \`answer ${code}\` with your words behind it, or \`no ${code}\`.`;
  return `Answer with a number and the code, such as \`1 ${code}\`, or \`no ${code}\`.`;
}

/** A fence that is longer than every run of its marks within. */
function quoted(text: string): string {
  let longest = 2;
  let run = 0;
  for (const character of text) {
    run = character === '`' ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

const marks = new Set('*_`~[]<>|\\');

/** Without marks of Markdown, and on one line. */
export const plain = (text: string): string =>
  Array.from(text.replaceAll(/\s/g, ' '), (character) => (marks.has(character) ? `\\${character}` : character)).join(
    '',
  );
