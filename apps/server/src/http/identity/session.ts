/** Sessions of people as principals: the cookie, its owner, and the allowed origins of a request with it. */
import { scopesOfRole, sessionLifetime } from '@lodge/domain';
import type { Accounts } from '@lodge/engine';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { upgradeOf } from '../listener/upgrade.ts';
import { checkChange, checkRead, checkSocket, checkToken } from './csrf.ts';

export interface SessionsOptions {
  readonly accounts: Pick<Accounts, 'signedIn' | 'holds' | 'csrfToken'>;
  /** Where browsers reach this service, such as `https://lodge.example.com`. Known only once it listens. */
  readonly origin: () => string;
}

export class Sessions {
  private readonly accounts: SessionsOptions['accounts'];
  private readonly origin: () => string;

  constructor({ accounts, origin }: SessionsOptions) {
    this.accounts = accounts;
    this.origin = origin;
  }

  /** The token that a request brings in its cookie; null when it brings none. */
  token({ cookie }: IncomingHttpHeaders): string | null {
    if (cookie === undefined) return null;
    const start = `${this.cookieName()}=`;
    const pair = cookie.split(';').find((pair) => pair.trimStart().startsWith(start));
    return pair?.trim().slice(start.length) || null;
  }

  /**
   * Puts principal and person on a request with a session's cookie; returns false when that has ended. Refuses with 403 a
   * request that does not come from a page of Lodge's.
   */
  async enter(request: FastifyRequest, token: string): Promise<boolean> {
    const me = await this.accounts.signedIn(token);
    if (me === null) return false;
    const { headers, method } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      checkChange(this.origin(), headers);
      checkToken(this.accounts.csrfToken(token), headers['x-csrf-token']);
    } else if (upgradeOf(request.raw) === undefined) checkRead(this.origin(), headers);
    else checkSocket(this.origin(), headers);
    const { account, session } = me;
    request.me = me;
    request.principal = {
      accountId: account.id,
      scopes: scopesOfRole[account.role],
      by: { kind: 'session', id: session.id },
    };
    return true;
  }

  /** Refuses with 403 a change without a session that does not come from a page of Lodge's. */
  checkOwnPage({ headers }: FastifyRequest): void {
    checkChange(this.origin(), headers);
  }

  holds(token: string): Promise<boolean> {
    return this.accounts.holds(token);
  }

  write(reply: FastifyReply, token: string): void {
    this.setCookie(reply, token, sessionLifetime.absoluteSeconds);
  }

  clear(reply: FastifyReply): void {
    this.setCookie(reply, '', 0);
  }

  /**
   * Over https the name has a prefix by which browsers refuse the cookie from any other host: agents' addresses are below
   * Lodge's, and their pages could set it otherwise.
   */
  private cookieName(): string {
    return this.isSecure() ? '__Host-lodge_session' : 'lodge_session';
  }

  private setCookie(reply: FastifyReply, value: string, maxAge: number): void {
    const secure = this.isSecure() ? '; Secure' : '';
    reply.header(
      'set-cookie',
      `${this.cookieName()}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly${secure}; SameSite=Lax`,
    );
  }

  private isSecure(): boolean {
    return this.origin().startsWith('https:');
  }
}
