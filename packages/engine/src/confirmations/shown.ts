/** A confirmation's words: Lodge's own first, then the agent's, quoted and bounded. The whole call is known by its digest. */
import { hash } from 'node:crypto';
import { confirmationBounds, oneLine } from '@lodge/domain';
import type { StoredCall } from '@lodge/ports';
import { pushOf } from './push-text.ts';

export interface Shown {
  /** One sentence of Lodge's. */
  readonly action: string;
  /** The agent's words; null where there are none. */
  readonly quoted: string | null;
  /** Whether `quoted` is only the beginning. */
  readonly isCut: boolean;
  /** The choices of a question; empty for a call. */
  readonly options: readonly string[];
}

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  /** The address at which the owner takes over the agent's browser, where the question asks for it. */
  readonly takeOver?: string;
}

/** Characters of an address in Lodge's sentence. */
const maxAddressChars = 1_000;

export const digestOf = (text: string): string => hash('sha256', text, 'hex');

export function shownCall(call: StoredCall): Shown {
  const { action, words } = partsOf(call);
  // A server names its tools, and it is nobody's friend.
  return { action: written(action), ...quotedOf(words), options: [] };
}

export const shownQuestion = ({ question, options, takeOver }: Question): Shown => ({
  action:
    takeOver === undefined
      ? 'The agent asks its owner.'
      : `The agent asks its owner to take over its browser: ${takeOver}`,
  ...quotedOf(question),
  options: options.map(written),
});

function partsOf(call: StoredCall): { readonly action: string; readonly words: string } {
  switch (call.kind) {
    case 'http':
    case 'host': {
      const { connection, url, method, path, query, headers, body } = call;
      const address = shortened(url + path);
      // Access is the connection's: the token of a program is for nobody's chat.
      const own = Object.entries(headers).filter(([name]) => name !== 'authorization');
      const lines = own.map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
      const said = body === null ? [] : bodyTexts(path, Buffer.from(body, 'base64'));
      const parts = [query, lines.join('\n'), ...said].filter((part) => part !== '');
      return { action: `Send ${method} ${address} by the connection ${connection}.`, words: parts.join('\n\n') };
    }
    case 'mcp':
      return {
        action: `Call the tool ${oneLine(JSON.stringify(call.tool))} of the connection ${call.connection}, ${shortened(call.url)}.`,
        words: JSON.stringify(call.arguments, null, 2),
      };
    case 'tool':
      return { action: `Use Lodge's tool ${call.name}.`, words: JSON.stringify(call.arguments, null, 2) };
    case 'command':
      return {
        action: `Use the tool ${oneLine(JSON.stringify(call.tool))} in its machine.`,
        words: isWhole(call) ? call.text : `${call.text}\n\n${call.detail}`,
      };
  }
}

/** Whether the text says all that the detail does. */
const isWhole = ({ text, detail }: { readonly text: string; readonly detail: string }): boolean =>
  detail === '' || [JSON.stringify({ command: text }), `{"command": ${JSON.stringify(text)}}`].includes(detail);

const shortened = (text: string): string =>
  text.length > maxAddressChars ? `${text.slice(0, maxAddressChars)}… (${text.length} characters)` : text;

function bodyTexts(path: string, bytes: Buffer): readonly string[] {
  const push = path.endsWith('/git-receive-pack') ? pushOf(bytes) : null;
  return push === null ? [bodyText(bytes)] : [push.refs.join('\n'), bodyText(push.rest)];
}

/** The text of a body; its size where it is no text. */
function bodyText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `(${bytes.length} bytes that are no text)`;
  }
}

/**
 * Control characters, and those that reorder or hide text or are blank, would show something else than is sent. The sign behind
 * an emoji that asks for its coloured form stays.
 */
// oxlint-disable-next-line no-misleading-character-class -- each is a character of its own here
const misleading = /[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0e\u{e0000}-\u{e0fff}]/gu;

function escaped(character: string): string {
  if (character === '\n') return character;
  const hex = character.codePointAt(0)!.toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

const written = (text: string): string => text.replaceAll(misleading, escaped);

function quotedOf(words: string): Pick<Shown, 'quoted' | 'isCut'> {
  const isCut = words.length > confirmationBounds.shownChars;
  const shown = written(words.slice(0, confirmationBounds.shownChars).toWellFormed());
  return { quoted: shown === '' ? null : shown, isCut };
}
