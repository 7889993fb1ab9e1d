import { isCredentialHeader } from '@lodge/domain';
import { connectionHeaderContext } from '@lodge/ports';
import type { ConnectionRow, SecretBox } from '@lodge/ports';
import { secretsOf } from './forms.ts';
import { Needles } from './masker.ts';

/** In the clear: never logged. */
export interface Credentials {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly needles: Needles;
}

const mostKept = 200;

/** Opens headers of connections, and keeps what to look for in answers for as long as a connection is in use. */
export class CredentialBook {
  readonly #secrets: SecretBox;
  readonly #needles = new Map<string, Needles>();

  constructor(secrets: SecretBox) {
    this.#secrets = secrets;
  }

  of({ agentId, name: connection, headers: sealed, revision }: ConnectionRow): Credentials {
    const headers = Object.fromEntries(
      sealed.map((header) => {
        const context = connectionHeaderContext(agentId, connection, header.name);
        return [header.name.toLowerCase(), this.#secrets.open(header.sealed, context)];
      }),
    );
    const known = this.#needles.get(revision);
    const needles = known ?? new Needles(secretsOf(credentialsOf(headers)));
    this.#needles.delete(revision);
    this.#needles.set(revision, needles);
    if (this.#needles.size > mostKept) this.#needles.delete(this.#needles.keys().next().value!);
    return { headers, needles };
  }
}

const credentialsOf = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isCredentialHeader(name)));
