/** Google's OAuth 2.0 for web server applications: consent, codes, access and refresh tokens. */
import { createHash, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import type { Answer } from './http.ts';
import { json } from './http.ts';

export interface OauthClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
}

/** The file of a service account's key. */
export interface ServiceAccountKey {
  readonly type: 'service_account';
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly token_uri: string;
}

interface Grant {
  readonly address: string;
  readonly scopes: readonly string[];
}

interface Code extends Grant {
  readonly challenge: string | null;
  readonly redirectUri: string;
  readonly isOffline: boolean;
}

export class StubOauth {
  readonly client: OauthClient;
  /** The person who presses the button if no `login_hint` names one. */
  signedIn: string | null = null;
  /** The person's actions on the consent screen: boxes that stay unticked, or the button that refuses. */
  unticked: readonly string[] = [];
  refuses = false;
  /** Each refresh gives a new refresh token, and the old one is good no more. */
  rotates = false;
  accessTokenSeconds = 3_599;
  /** The answers of `/token`, oldest first: the kind of grant, or the error. */
  readonly tokenCalls: string[] = [];
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, Grant>();
  readonly #accessTokens = new Map<string, Grant & { readonly endsAt: number }>();
  readonly #consented = new Set<string>();
  /** Public keys of service accounts by their address. */
  readonly #serviceKeys = new Map<string, string>();
  /** Owners of all tokens, also expired ones. */
  readonly #owners = new Map<string, string>();

  constructor(client: OauthClient) {
    this.client = client;
  }

  /** A refresh token without a consent screen. */
  grant(address: string, scopes: readonly string[]): string {
    const token = `1//0${randomBytes(24).toString('base64url')}`;
    this.#refreshTokens.set(token, { address: address.toLowerCase(), scopes });
    this.#owners.set(token, address.toLowerCase());
    return token;
  }

  /** A service account with a key: what Google writes into the file that it gives out. */
  serviceAccount(email: string): ServiceAccountKey {
    const keys = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    this.#serviceKeys.set(email, keys.publicKey);
    return {
      type: 'service_account',
      project_id: 'stub-project',
      private_key_id: randomBytes(20).toString('hex'),
      private_key: keys.privateKey,
      client_email: email,
      token_uri: tokenAudience,
    };
  }

  /** The keys of a service account are good no more. */
  revokeServiceAccount(email: string): void {
    this.#serviceKeys.delete(email);
    this.expireAccess(email);
  }

  /** Every token of the mailbox is good no more. */
  revoke(address: string): void {
    for (const [token, grant] of this.#refreshTokens) if (grant.address === address) this.#refreshTokens.delete(token);
    this.expireAccess(address);
  }

  expireAccess(address: string): void {
    for (const [token, grant] of this.#accessTokens) if (grant.address === address) this.#accessTokens.delete(token);
  }

  refreshTokensOf(address: string): string[] {
    return [...this.#refreshTokens].filter(([, grant]) => grant.address === address).map(([token]) => token);
  }

  /** The present or former owner of a token; empty: nobody. */
  ownerOf(token: string): string {
    return this.#owners.get(token) ?? '';
  }

  /** The grant of this access token; null: there is none, or it has expired. */
  bearer(authorization: string | undefined): Grant | null {
    const grant = this.#accessTokens.get(authorization?.replace(/^Bearer /, '') ?? '');
    return grant && grant.endsAt > Date.now() ? grant : null;
  }

  /** `GET /o/oauth2/v2/auth`: the person has an answer at once. */
  authorize(query: URLSearchParams): Answer {
    const redirectUri = query.get('redirect_uri') ?? '';
    if (query.get('client_id') !== this.client.clientId) return errorPage('invalid_client');
    if (!this.client.redirectUris.includes(redirectUri)) return errorPage('redirect_uri_mismatch');
    if (query.get('response_type') !== 'code') return errorPage('unsupported_response_type');
    const method = query.get('code_challenge_method');
    if (query.has('code_challenge') && method !== 'S256' && method !== 'plain') return errorPage('invalid_request');
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    if (this.refuses) {
      back.searchParams.set('error', 'access_denied');
      return { status: 302, headers: { location: back.href }, body: '' };
    }
    const address = (query.get('login_hint') ?? this.signedIn ?? '').toLowerCase();
    const scopes = (query.get('scope') ?? '').split(' ').filter((scope) => !this.unticked.includes(scope));
    const code = `4/0${randomBytes(24).toString('base64url')}`;
    // Google gives a refresh token at the first consent, and at those that are asked for.
    const isOffline =
      query.get('access_type') === 'offline' &&
      (query.get('prompt')?.includes('consent') === true || !this.#consented.has(address));
    this.#consented.add(address);
    this.#codes.set(code, { address, scopes, challenge: query.get('code_challenge'), redirectUri, isOffline });
    back.searchParams.set('code', code);
    back.searchParams.set('scope', scopes.join(' '));
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  /** `POST /token`. */
  token(form: URLSearchParams): Answer {
    if (form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return this.#assert(form.get('assertion') ?? '');
    const isClient =
      form.get('client_id') === this.client.clientId && form.get('client_secret') === this.client.clientSecret;
    if (!isClient) return this.#refuse('invalid_client', 'Unauthorized', 401);
    switch (form.get('grant_type') ?? '') {
      case 'authorization_code':
        return this.#exchange(form);
      case 'refresh_token':
        return this.#refresh(form.get('refresh_token') ?? '');
      default:
        return this.#refuse('unsupported_grant_type', 'Invalid grant_type');
    }
  }

  /** `POST /revoke`: of an access or a refresh token. */
  revokeToken(token: string): Answer {
    const grant = this.#refreshTokens.get(token) ?? this.#accessTokens.get(token);
    if (!grant) return json(400, { error: 'invalid_token' });
    this.revoke(grant.address);
    return json(200, {});
  }

  #exchange(form: URLSearchParams): Answer {
    const given = form.get('code') ?? '';
    const code = this.#codes.get(given);
    this.#codes.delete(given);
    if (!code) return this.#refuse('invalid_grant', 'Malformed auth code.');
    if (form.get('redirect_uri') !== code.redirectUri) return this.#refuse('redirect_uri_mismatch', 'Bad Request');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code.challenge !== null && proof !== code.challenge)
      return this.#refuse('invalid_grant', 'Invalid code verifier.');
    this.tokenCalls.push('authorization_code');
    return this.#tokens(code, code.isOffline ? this.grant(code.address, code.scopes) : null);
  }

  #refresh(token: string): Answer {
    const grant = this.#refreshTokens.get(token);
    if (!grant) return this.#refuse('invalid_grant', 'Token has been expired or revoked.');
    this.tokenCalls.push('refresh_token');
    if (!this.rotates) return this.#tokens(grant, null);
    this.#refreshTokens.delete(token);
    return this.#tokens(grant, this.grant(grant.address, grant.scopes));
  }

  /** A claim that a service account has signed. */
  #assert(assertion: string): Answer {
    const [head = '', body = '', signature = ''] = assertion.split('.');
    const claims = claimsIn(body);
    const key = this.#serviceKeys.get(claims.iss);
    const signed = Buffer.from(`${head}.${body}`);
    if (!key || !verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))
      return this.#refuse('invalid_grant', 'Invalid JWT Signature.');
    const now = Date.now() / 1_000;
    if (claims.aud !== tokenAudience || claims.exp < now || claims.exp - claims.iat > 3_600 || claims.iat > now + 60)
      return this.#refuse('invalid_grant', 'Invalid JWT: Token must be a short-lived token (60 minutes).');
    this.tokenCalls.push('jwt-bearer');
    return this.#tokens({ address: claims.iss, scopes: claims.scope.split(' ') }, null);
  }

  #tokens(grant: Grant, refreshToken: string | null): Answer {
    const accessToken = `ya29.${randomBytes(24).toString('base64url')}`;
    const { address, scopes } = grant;
    this.#owners.set(accessToken, address);
    this.#accessTokens.set(accessToken, { address, scopes, endsAt: Date.now() + this.accessTokenSeconds * 1_000 });
    return json(200, {
      access_token: accessToken,
      expires_in: this.accessTokenSeconds,
      scope: scopes.join(' '),
      token_type: 'Bearer',
      ...(refreshToken !== null && { refresh_token: refreshToken }),
    });
  }

  #refuse(error: string, description: string, status = 400): Answer {
    this.tokenCalls.push(error);
    return json(status, { error, error_description: description });
  }
}

const tokenAudience = 'https://oauth2.googleapis.com/token';

interface Claims {
  readonly iss: string;
  readonly aud: string;
  readonly scope: string;
  readonly iat: number;
  readonly exp: number;
}

function claimsIn(body: string): Claims {
  try {
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
  } catch {
    return { iss: '', aud: '', scope: '', iat: 0, exp: 0 };
  }
}

const errorPage = (error: string): Answer => ({
  status: 400,
  headers: { 'content-type': 'text/html' },
  body: `<title>Error 400: ${error}</title>`,
});
