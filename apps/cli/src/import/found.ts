/** The contents of a runtime's folder, as far as a new agent takes them. */
import type { PutChannel } from '@lodge/sdk';
import type { FoundFile, LeftOut } from './folder.ts';

export interface FoundChannel {
  readonly name: 'telegram' | 'slack' | 'discord' | 'whatsapp';
  readonly settings: PutChannel;
  /** Fields of the request that are secrets: each is asked for. */
  readonly secrets: readonly ('botToken' | 'appToken')[];
}

export interface Found {
  readonly runtime: 'openclaw' | 'hermes';
  readonly folder: string;
  /** The id of the agent that is read, in a folder that may have several. */
  readonly agent: string;
  /** The folder of its files. */
  readonly workspace: string;
  /** Null: the folder names none that a provider would know. */
  readonly model: string | null;
  /** The provider whose key is asked for; null: none is known. */
  readonly provider: string | null;
  readonly files: readonly FoundFile[];
  /** The database of the conversations, and the log beside it. */
  readonly database: { readonly file: string; readonly log: string | null; readonly bytes: number } | null;
  /** Files of conversations that an older release kept, and that the runtime itself makes a database of. */
  readonly older: readonly FoundFile[];
  readonly channels: readonly FoundChannel[];
  readonly leftOut: LeftOut;
}

export type Access = NonNullable<PutChannel['access']>;
const modes = ['pairing', 'allowlist', 'open', 'disabled'] as const;
const maxEntries = 500;
const maxEntryChars = 200;

export const modeOf = (value: unknown): (typeof modes)[number] => modes.find((mode) => mode === value) ?? 'pairing';

/** Returns names of senders or groups; a star is no name. */
export const entriesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [])
    .map((each) => (typeof each === 'number' ? String(each) : each))
    .filter((each): each is string => typeof each === 'string' && each !== '' && each !== '*')
    .filter((each) => each.length <= maxEntryChars && !/\p{Cc}/u.test(each))
    .slice(0, maxEntries);

export const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 4096 ? value : null;
