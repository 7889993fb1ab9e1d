/** The authorization of one connection while it is in use. */
import type { ConnectionGrants, ConnectionRow } from '@lodge/ports';
import { McpRefused } from '../mcp/mcp-refused.ts';
import type { CredentialBook, Credentials } from '../secret/credentials.ts';
import type { Challenge } from './challenge.ts';
import type { Renewals } from './renewals.ts';

export interface LoginDeps {
  readonly credentials: CredentialBook;
  readonly renewals: Renewals;
  readonly grants: ConnectionGrants;
  /** Age below which a refused token is not replaced. */
  readonly leastAgeMs: number;
}

/** Thrown when the server wants authorization, or refuses the given one. It did nothing else. */
export class Unauthorized extends McpRefused {
  readonly challenge: Challenge;
  readonly credentials: Credentials;
  constructor(challenge: Challenge, credentials: Credentials) {
    super('The server of this connection refuses its credentials. Its owner can put others.');
    this.challenge = challenge;
    this.credentials = credentials;
  }
}

/** Thrown when there is no access, with the code of a refusal. */
export class AccessRefused extends McpRefused {
  readonly code: 'consent_needed' | 'access_not_renewed';
  constructor(code: AccessRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const consentNeeded = (): AccessRefused => new AccessRefused('consent_needed', noAccess);
const notRenewed = (): AccessRefused => new AccessRefused('access_not_renewed', ended);

const noAccess =
  'This connection has no access to its server: its owner must consent (OAuth) before it can be used. Tell them.';
const oauthNeeded =
  'The server of this connection asks for OAuth, and the connection has none: its owner must put it with OAuth and consent. Tell them.';
const ended =
  'The access of this connection has ended, and its authorization server does not renew it for now. Try again later.';
const stillRefused = 'The server of this connection refuses the access that its authorization server gave.';

export class Login {
  readonly #deps: LoginDeps;
  #row: ConnectionRow;
  #credentials: Credentials;
  /** Time at which the known row was read. */
  #asOfMs: number;

  constructor(deps: LoginDeps, row: ConnectionRow, credentials: Credentials, asOfMs: number) {
    this.#deps = deps;
    this.#row = row;
    this.#credentials = credentials;
    this.#asOfMs = asOfMs;
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** Takes the row of the same revision as read at `asOfMs`. True when the grant has changed. */
  update(row: ConnectionRow, credentials: Credentials, asOfMs: number): boolean {
    if (asOfMs < this.#asOfMs) return false;
    const isOther = row.oauth?.version !== this.#row.oauth?.version;
    this.#row = row;
    this.#asOfMs = asOfMs;
    if (isOther) this.#credentials = credentials;
    return isOther;
  }

  /** Rejects with an `McpRefused` when there is no access, and none can be had. */
  async ready(): Promise<void> {
    if (this.#row.oauth === null) return;
    if (this.#row.oauth.grant?.isDue || this.#row.oauth.grant?.isOver) await this.#renew();
    const { grant } = this.#row.oauth;
    if (grant === null || this.#deps.credentials.grantOf(this.#row) === null) throw consentNeeded();
    if (grant.isOver) throw notRenewed();
  }

  /** Handles a refusal. True when there is other access now, so another try may help. Rejects with an `McpRefused`. */
  async refused({ challenge, credentials }: Unauthorized): Promise<boolean> {
    const { oauth, agentId, name: connection, revision } = this.#row;
    if (oauth === null) {
      if (challenge.metadataUrl === null || 'authorization' in this.#credentials.headers) return false;
      await this.#deps.grants.asked({ agentId, connection, revision });
      throw new McpRefused(oauthNeeded);
    }
    if (credentials !== this.#credentials) return true;
    if (oauth.grant === null) throw consentNeeded();
    if (oauth.grant.ageMs < this.#deps.leastAgeMs) throw new AccessRefused('access_not_renewed', stillRefused);
    await this.#renew();
    if (this.#row.oauth?.grant == null) throw consentNeeded();
    if (credentials === this.#credentials) throw notRenewed();
    return true;
  }

  async #renew(): Promise<void> {
    const before = this.#row;
    const row = await this.#deps.renewals.renew(before);
    // The next call looks the connection up anew.
    if (row === null || row.revision !== before.revision) {
      throw new AccessRefused('access_not_renewed', 'This connection was changed a moment ago.');
    }
    const asOfMs = performance.now();
    this.update(row, this.#deps.credentials.of(row), asOfMs);
  }
}
