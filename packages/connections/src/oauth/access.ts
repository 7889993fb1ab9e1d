/**
 * The access of one request that the host forwards, whatever the kind of its connection: the present token, and another one
 * where the server refuses it. A connection without OAuth has its stored headers, and nothing is asked for it.
 */
import type { ConnectionRow } from '@lodge/ports';
import type { Credentials } from '../secret/credentials.ts';
import { Refused } from '../http/refused.ts';
import { AccessRefused, Login, Unauthorized } from './login.ts';
import type { LoginDeps } from './login.ts';

export class Access {
  readonly #login: Login;
  readonly #row: ConnectionRow;

  constructor(deps: LoginDeps, row: ConnectionRow) {
    this.#row = row;
    this.#login = new Login(deps, row, deps.credentials.of(row), performance.now());
  }

  /** Returns the credentials, renewed where they are due. Rejects with a `Refused` when there are none. */
  async credentials(): Promise<Credentials> {
    await this.#login.ready().catch(refuse);
    return this.#login.credentials;
  }

  /**
   * Returns other credentials than the server refused; null when there are none, so that its refusal is the answer. Rejects
   * with a `Refused` when access is lost.
   */
  async others(refused: Credentials): Promise<Credentials | null> {
    if (this.#row.oauth === null) return null;
    try {
      await this.#login.refused(new Unauthorized({ metadataUrl: null, scope: null, error: null }, refused));
      return this.#login.credentials;
    } catch (error) {
      if (error instanceof AccessRefused && error.code !== 'consent_needed') return null;
      return refuse(error);
    }
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof AccessRefused)) throw error;
  throw new Refused(error.code === 'consent_needed' ? 403 : 502, error.code, error.message);
}
