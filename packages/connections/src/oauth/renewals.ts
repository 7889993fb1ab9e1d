/**
 * Renews access tokens, each once at a time, whoever needs it. Calls of one process wait for one promise, and processes for
 * one claim in the database. A new refresh token is stored before anything uses it, because the earlier one may be invalid.
 *
 * A process that dies leaves a claim, which ends by itself. If it died before its request, the next one makes the request.
 * If it died with an unstored answer, the next one asks with the old token. An authorization server that accepts a token
 * only once refuses it, and a person must consent again. If it died after the write, the next one uses the stored grant.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { renewalIn } from '@lodge/domain';
import { ConsentFailure } from '@lodge/ports';
import type {
  ConnectionDirectory,
  ConnectionGrants,
  ConnectionRow,
  Grant,
  GrantRef,
  Log,
  NewGrant,
} from '@lodge/ports';
import type { CredentialBook } from '../secret/credentials.ts';
import type { OAuthWay } from './oauth-fetch.ts';
import { refreshed } from './tokens.ts';

export interface RenewalDeps extends OAuthWay {
  readonly directory: ConnectionDirectory;
  readonly grants: ConnectionGrants;
  readonly credentials: CredentialBook;
  readonly log: Log;
}

const pollMs = 100;
/** Most new grants that could not be stored yet. */
const mostUnkept = 1_000;

export class Renewals {
  readonly #deps: RenewalDeps;
  readonly #under = new Map<string, Promise<ConnectionRow | null>>();
  readonly #unkept = new Map<string, { readonly of: GrantRef; readonly grant: NewGrant }>();
  readonly #ended = new AbortController();

  constructor(deps: RenewalDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the connection with its present grant: another grant than `row` has, none, or the same when it could not be
   * renewed. Null when the connection is gone. Rejects only when the database does.
   */
  renew(row: ConnectionRow): Promise<ConnectionRow | null> {
    const key = row.oauth!.version;
    const known = this.#under.get(key);
    if (known !== undefined) return known;
    const renewing = this.#renew(row).finally(() => this.#under.delete(key));
    this.#under.set(key, renewing);
    return renewing;
  }

  /** Waits until the renewals in progress are stored, so no new token is lost. */
  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#under.values());
    await Promise.allSettled([...this.#unkept.keys()].map((version) => this.#keep(version)));
  }

  async #renew(row: ConnectionRow): Promise<ConnectionRow | null> {
    const { grants, bounds, directory } = this.#deps;
    const of = { agentId: row.agentId, connection: row.name, version: row.oauth!.version };
    const until = performance.now() + bounds.waitMs;
    await this.#keep(of.version);
    for (;;) {
      const claim = await grants.claim(of, bounds.claimMs);
      if (claim === 'yours') await this.#refresh(row, of);
      else if (claim === 'busy' && performance.now() < until && !this.#ended.signal.aborted) {
        await sleep(pollMs);
        continue;
      }
      return directory.usableOne(row.agentId, row.name);
    }
  }

  async #refresh(row: ConnectionRow, of: GrantRef): Promise<void> {
    const { credentials, grants, bounds } = this.#deps;
    const grant = credentials.grantOf(row);
    try {
      if (grant === null || grant.refreshToken === null) {
        throw new ConsentFailure('Access has ended, and the server gave none that lasts.', true);
      }
      const asked = { terms: grant.terms, client: credentials.clientOf(row), refreshToken: grant.refreshToken };
      const signal = AbortSignal.timeout(bounds.renewMs);
      const tokens = await refreshed(this.#deps, asked, signal);
      const { accessToken, refreshToken, expiresInMs, scope } = tokens;
      const next: Grant = { ...grant, accessToken, refreshToken, before: grant.accessToken };
      const kept = {
        sealed: credentials.sealed(row, next),
        scope: scope ?? row.oauth!.grant!.scope,
        expiresInMs,
        renewInMs: renewalIn(tokens),
      };
      this.#unkept.set(of.version, { of, grant: kept });
      if (this.#unkept.size > mostUnkept) this.#unkept.delete(this.#unkept.keys().next().value!);
      await this.#keep(of.version);
    } catch (error) {
      if (!(error instanceof ConsentFailure)) throw error;
      if (error.isRefusal) await grants.lose(of, error.message);
      else await grants.fail(of, error.message, bounds.retryMs);
    }
  }

  /** Stores a grant that the database did not take, until it does or this process ends. */
  async #keep(version: string): Promise<void> {
    const waiting = this.#unkept.get(version);
    if (waiting === undefined) return;
    try {
      await this.#deps.grants.keep(waiting.of, waiting.grant);
    } catch (error) {
      this.#deps.log.warn({ err: error, agent_id: waiting.of.agentId }, 'renewed access could not be stored yet');
      throw error;
    }
    this.#unkept.delete(version);
  }
}
