import { OAuth2Client } from 'google-auth-library';
import { within } from '../../shared/deadline.ts';
import type { GmailEndpoints } from '../options.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { brokenFailure, GoogleFailure, revoked, tokenFailure } from './google-failure.ts';

export interface OauthSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly endpoints: GmailEndpoints;
  readonly callMs: number;
}

export const oauthClient = ({ clientId, clientSecret, endpoints }: OauthSettings, signal?: AbortSignal): OAuth2Client =>
  new OAuth2Client({
    clientId,
    clientSecret,
    endpoints: { oauth2AuthBaseUrl: endpoints.consent, oauth2TokenUrl: endpoints.token },
    transporterOptions: { fetchImplementation: boundedFetch(signal) },
  });

/** An access token is renewed this long before it ends. */
const marginMs = 5 * 60_000;
const maxTokenChars = 4_096;

/**
 * Access tokens of one mailbox, in memory alone. A new refresh token of Google's is stored before any use: the old one may
 * have expired.
 */
export class Tokens {
  readonly #settings: OauthSettings;
  readonly #keep: (refreshToken: string) => Promise<void>;
  readonly #signal: AbortSignal;
  #refreshToken: string;
  /** A refresh token that could not be kept yet. */
  #unkept: string | null = null;
  #access: { readonly token: string; readonly endsAt: number } | null = null;
  #refreshing: Promise<string> | null = null;

  constructor(
    settings: OauthSettings,
    refreshToken: string,
    keep: (refreshToken: string) => Promise<void>,
    signal: AbortSignal,
  ) {
    this.#settings = settings;
    this.#refreshToken = refreshToken;
    this.#keep = keep;
    this.#signal = signal;
  }

  /** Rejects with a `GoogleFailure`, and with what `keep` rejects with. */
  async access(): Promise<string> {
    if (this.#access && this.#access.endsAt > Date.now() && this.#unkept === null) return this.#access.token;
    this.#refreshing ??= this.#renew().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Google refused this one. */
  forget(token: string): void {
    if (this.#access?.token === token) this.#access = null;
  }

  async #renew(): Promise<string> {
    if (this.#unkept === null) await this.#refresh();
    if (this.#unkept !== null) {
      await this.#keep(this.#unkept);
      this.#unkept = null;
    }
    if (!this.#access) throw new GoogleFailure('fatal', revoked);
    return this.#access.token;
  }

  async #refresh(): Promise<void> {
    const { token, rotated, endsAt } = await this.#ask();
    if (rotated !== null && rotated !== this.#refreshToken) {
      this.#refreshToken = rotated;
      this.#unkept = rotated;
    }
    this.#access = { token, endsAt };
  }

  async #ask(): Promise<{ token: string; rotated: string | null; endsAt: number }> {
    try {
      return await within(this.#settings.callMs, this.#signal, async (signal) => {
        const client = oauthClient(this.#settings, signal);
        client.setCredentials({ refresh_token: this.#refreshToken });
        let rotated: string | null = null;
        // The client itself goes on with the old one.
        client.on('tokens', (tokens) => {
          rotated = tokens.refresh_token ?? null;
        });
        const { credentials } = await client.refreshAccessToken();
        const { access_token: token, expiry_date: end } = credentials;
        if (typeof token !== 'string' || token === '' || token.length > maxTokenChars) throw new Error('no token');
        return { token, rotated, endsAt: (typeof end === 'number' ? end : Date.now() + 2 * marginMs) - marginMs };
      });
    } catch (error) {
      throw tokenFailure(error) ?? brokenFailure(error);
    }
  }
}
