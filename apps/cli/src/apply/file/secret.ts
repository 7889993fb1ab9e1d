/**
 * Secrets that a file names: read from the environment, a file or stdin, and compared with the stored ones. Nothing prints
 * one: a `Secret` says its last four characters wherever it is made a text.
 */
import { resolve } from 'node:path';
import type { Lodge } from '@lodge/sdk';
import type { Run } from '../../run.ts';
import { readStdin } from '../../terminal/prompt.ts';
import { quoted } from '../../terminal/safe.ts';
import { readText } from '../../values.ts';
import { Checker } from './check.ts';
import type { SecretPlace } from './check.ts';

/** Kinds of fingerprints. */
export type SecretKind = 'llm_key' | 'channel' | 'connection' | 'hook';

/** A stored secret, as the server shows it. */
export interface Stored {
  readonly last4: string;
  /** Null where it cannot be opened; undefined from servers that have none. */
  readonly fingerprint?: string | null;
}

/** Shorter ones show no characters. */
const leastShown = 12;
const perRequest = 100;

export class Secret {
  readonly #value: string;
  readonly kind: SecretKind;
  /** The server's fingerprint of it, once it was asked for. */
  fingerprint: string | undefined;

  constructor(value: string, kind: SecretKind) {
    this.#value = value;
    this.kind = kind;
  }

  /** Returns the secret itself, for the body of a request. */
  reveal(): string {
    return this.#value;
  }

  /** Whether it is the stored one: by the fingerprint, or by the last characters where the server has none. */
  is({ last4, fingerprint }: Stored): boolean {
    if (typeof fingerprint === 'string' && this.fingerprint !== undefined) return fingerprint === this.fingerprint;
    return this.#value.endsWith(last4);
  }

  get shown(): string {
    return this.#value.length < leastShown ? 'a secret' : lastFour(this.#value.slice(-4));
  }

  toString(): string {
    return this.shown;
  }

  toJSON(): string {
    return this.shown;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.shown;
  }
}

/** Says which secret is meant, and not what it is. */
export const lastFour = (last4: string): string => (last4 === '' ? 'a secret' : `last4 ${last4}`);

/** Asks for the fingerprints of secrets. A server that has none is left alone, and so is one that refuses. */
export async function askFingerprints(lodge: Lodge, secrets: readonly Secret[], signal: AbortSignal): Promise<void> {
  for (let at = 0; at < secrets.length; at += perRequest) {
    const some = secrets.slice(at, at + perRequest);
    const values = some.map((secret) => ({ for: secret.kind, value: secret.reveal() }));
    try {
      const reply = await lodge.request<{ readonly data: readonly { readonly fingerprint: string }[] }>(
        'POST',
        '/fingerprints',
        { body: { values }, signal },
      );
      for (const [index, secret] of some.entries()) secret.fingerprint = reply.data[index]?.fingerprint;
    } catch (error) {
      if ((error as { readonly status?: unknown }).status === 404) return;
      throw error;
    }
  }
}

/** Reads secrets; each source once. */
export class SecretReader {
  readonly #run: Run;
  #stdin: Promise<string> | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Returns the secret, or says what is wrong with its source. */
  async read({ source, bounds, path }: SecretPlace, folder: string): Promise<Secret | string> {
    const given = await this.#given(source, folder);
    if (typeof given !== 'string') return given.problem;
    const value = `${source.prefix ?? ''}${given.trim()}`;
    if (given.trim() === '') return 'the secret is empty';
    const checker = new Checker({});
    checker.check({ type: 'string', ...bounds }, value, []);
    const [finding] = checker.findings;
    if (finding !== undefined) return `the secret ${finding.message}`;
    return new Secret(value, kindOf(String(path[2])));
  }

  async #given(
    { env, file, stdin }: SecretPlace['source'],
    folder: string,
  ): Promise<string | { readonly problem: string }> {
    if (stdin === true) return (this.#stdin ??= readStdin(this.#run.signal));
    if (env !== undefined) {
      const value = this.#run.env[env];
      return value === undefined || value === '' ? { problem: `the variable ${quoted(env)} is not set` } : value;
    }
    try {
      return await readText(this.#run, resolve(folder, file ?? ''));
    } catch (error) {
      return { problem: error instanceof Error ? error.message : 'cannot be read' };
    }
  }
}

function kindOf(section: string): SecretKind {
  switch (section) {
    case 'channels':
      return 'channel';
    case 'connections':
      return 'connection';
    case 'hooks':
      return 'hook';
    default:
      return 'llm_key';
  }
}
