/** Access tokens of a service account: a signed claim is exchanged for one (developers.google.com/identity/protocols/oauth2/service-account). */
import { sign } from 'node:crypto';
import { boundedJson } from '@lodge/domain';
import { textOf } from '../../shared/plain.ts';
import { boundedFetch } from '../api/bounded-fetch.ts';
import { GoogleFailure } from '../api/google-failure.ts';
import { within } from '../../shared/deadline.ts';

export interface ServiceAccount {
  readonly email: string;
  /** PEM. Never logged. */
  readonly privateKey: string;
}

export interface ServiceTokenOptions {
  readonly account: ServiceAccount;
  readonly scope: string;
  /** Where tokens are given out. */
  readonly url: string;
  readonly callMs: number;
}

/** Whom a claim is for: Google's own address, wherever it is reached. */
const audience = 'https://oauth2.googleapis.com/token';
const lifeSeconds = 3_600;
/** A token is renewed this long before it ends. */
const marginMs = 5 * 60_000;
const bounds = { bytes: 64 * 1024, depth: 4, elements: 100 };
const maxTokenChars = 4_096;

const badAccount = {
  code: 'invalid_credentials',
  message: 'Google does not accept the key of the service account.',
} as const;
const noToken = { code: 'platform_unreachable', message: 'Google gives no token for the service account.' } as const;

export class ServiceTokens {
  readonly #options: ServiceTokenOptions;
  #access: { readonly token: string; readonly endsAtMs: number } | null = null;

  constructor(options: ServiceTokenOptions) {
    this.#options = options;
  }

  /** Rejects with a `GoogleFailure`. */
  async access(signal: AbortSignal): Promise<string> {
    if (this.#access === null || this.#access.endsAtMs <= Date.now()) this.#access = await this.#ask(signal);
    return this.#access.token;
  }

  forget(): void {
    this.#access = null;
  }

  async #ask(signal: AbortSignal) {
    const { account, scope, url, callMs } = this.#options;
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertionOf(account, scope),
    }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    try {
      return await within(callMs, signal, async (own) => {
        const response = await boundedFetch(own)(url, { method: 'POST', headers, body });
        const answer = boundedJson(await response.bytes(), bounds) as Record<string, unknown> | null;
        const token = answer?.['access_token'];
        if (response.ok && typeof token === 'string' && token !== '' && token.length <= maxTokenChars)
          return { token, endsAtMs: Date.now() + lifeOf(answer?.['expires_in']) - marginMs };
        const isRefused = ['invalid_grant', 'invalid_client', 'unauthorized_client'].includes(
          textOf(answer?.['error']),
        );
        throw new GoogleFailure(isRefused ? 'fatal' : 'unavailable', isRefused ? badAccount : noToken);
      });
    } catch (error) {
      throw error instanceof GoogleFailure ? error : new GoogleFailure('unavailable', noToken);
    }
  }
}

const lifeOf = (seconds: unknown): number =>
  1_000 * (typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, lifeSeconds) : lifeSeconds / 2);

function assertionOf({ email, privateKey }: ServiceAccount, scope: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(Date.now() / 1_000);
  const claims = { iss: email, scope, aud: audience, iat: seconds, exp: seconds + lifeSeconds };
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), privateKey).toString('base64url')}`;
}
