import type { CallOptions } from '../options.ts';
import type {
  DeviceAuthorization,
  DeviceAuthorizationRequest,
  FingerprintList,
  FingerprintSecrets,
  OAuthClient,
  RegisterOAuthClient,
  RevokeToken,
  Token,
  TokenRequest,
} from '../types.ts';
import { Resource } from './resource.ts';

/** Sign-in of programs, by a person's consent in the account area. None of these takes a key. */
export class OAuth extends Resource {
  /** Asks for a key for this machine (RFC 8628). A person compares the code and approves it. */
  deviceAuthorization(body: DeviceAuthorizationRequest, options?: CallOptions): Promise<DeviceAuthorization> {
    return this.sendJson('POST', '/oauth/device_authorization', options, { body });
  }

  /** Exchanges a grant for a key. */
  token(body: TokenRequest, options?: CallOptions): Promise<Token> {
    return this.sendJson('POST', '/oauth/token', options, { body });
  }

  /** Registers a program that asks people for access (RFC 7591). */
  register(body: RegisterOAuthClient, options?: CallOptions): Promise<OAuthClient> {
    return this.sendJson('POST', '/oauth/register', options, { body });
  }

  /** Ends the access that a token belongs to (RFC 7009). */
  revoke(body: RevokeToken, options?: CallOptions): Promise<Record<string, never>> {
    return this.sendJson('POST', '/oauth/revoke', options, { body });
  }
}

/** Secrets that the caller has, to compare with stored ones. */
export class Secrets extends Resource {
  /** Returns the fingerprints that reads show beside `last4`. */
  fingerprint(body: FingerprintSecrets, options?: CallOptions): Promise<FingerprintList> {
    return this.postJson('/fingerprints', body, options);
  }
}
