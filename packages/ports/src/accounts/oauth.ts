import type { Scope } from '@lodge/domain';
import type { ApiKeyRecord } from './account-store.ts';
import type { Caller, SignedIn } from './signed-in.ts';
import type { By } from '../events/by.ts';
import type { DeviceRow, GrantRow, OAuthClient } from './oauth-store.ts';

/** The beginning of a device's sign-in (RFC 8628). Both codes are shown only once. */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  /** Such as `BCDF-GHJK`. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

/** A machine that waits, and what the person who is asked may give it. */
export interface WaitingDevice extends DeviceRow {
  /** Those of the asked scopes that the person's role has. */
  readonly grantable: readonly Scope[];
}

/** A key as its device gets it, once. */
export interface DeviceKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** The fields of an authorization request, as its client wrote them. */
export interface AuthorizationInput {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly responseType: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
  readonly scope: string | null;
  readonly state: string | null;
  readonly resource: string | null;
}

/** An authorization request that is in order, as the person who is asked sees it. */
export interface AuthorizationQuestion {
  readonly clientName: string;
  /** Host of the document that the client's id is the address of; null for a client that registered itself. */
  readonly clientHost: string | null;
  readonly redirectHost: string;
  /** Those of the asked scopes that the person's role has. */
  readonly grantable: readonly Scope[];
}

/** Access and refresh token, shown only once. */
export interface GrantTokens {
  readonly access: string;
  readonly refresh: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly Scope[];
  /** The id of the grant, which is its key's. */
  readonly grantId: string;
}

/** Reads the documents by which clients are known that did not register: their ids are the documents' addresses. */
export interface ClientDocuments {
  /** Returns the parsed JSON. Null when it cannot be had, or is not what it should be. */
  read(url: string): Promise<unknown>;
}

/** Sign-in for programs: device authorization and OAuth 2.1. Every method may throw `Refusal`. */
export interface OAuth {
  /** Begins a device's sign-in. Without scopes it asks for all but those that manage keys. */
  beginDevice(
    input: { readonly clientName: string; readonly scope: string | null },
    address: string,
  ): Promise<DeviceAuthorization>;
  /** Shows the machine that waits with this code. Every wrong code is counted. */
  waitingDevice(me: SignedIn, userCode: string, caller: Caller): Promise<WaitingDevice>;
  /** Gives the machine a key with these scopes once it fetches it, or refuses (null). */
  decideDevice(me: SignedIn, userCode: string, scopes: readonly Scope[] | null, caller: Caller): Promise<DeviceRow>;
  /** Makes the key that was approved. Refuses while nobody has. */
  redeemDevice(deviceCode: string, caller: Caller): Promise<DeviceKey>;

  /** Registers a public client (RFC 7591). Without a name it is shown as one that has none. */
  registerClient(
    input: { readonly name: string | null; readonly redirectUris: readonly string[] },
    address: string,
  ): Promise<OAuthClient>;
  authorizationQuestion(me: SignedIn, input: AuthorizationInput): Promise<AuthorizationQuestion>;
  /** Gives the scopes, or refuses (null). Returns the address that the browser goes to with the answer. */
  decideAuthorization(
    me: SignedIn,
    input: AuthorizationInput,
    scopes: readonly Scope[] | null,
    caller: Caller,
  ): Promise<string>;
  /** Exchanges a code. One that comes twice ends what it gave. */
  exchangeCode(
    input: {
      readonly code: string;
      readonly clientId: string;
      readonly redirectUri: string;
      readonly codeVerifier: string;
      readonly resource: string | null;
    },
    caller: Caller,
  ): Promise<GrantTokens>;
  /** Renews access. A refresh token that was exchanged before ends the grant. */
  refresh(
    input: {
      readonly refreshToken: string;
      readonly clientId: string;
      readonly scope: string | null;
      readonly resource: string | null;
    },
    caller: Caller,
  ): Promise<GrantTokens>;
  /** Ends the grant of a token, where it is the client's. Any other token changes nothing. */
  revokeToken(input: { readonly token: string; readonly clientId: string }, caller: Caller): Promise<void>;
  grants(accountId: string): Promise<readonly GrantRow[]>;
  revokeGrant(accountId: string, id: string, by: By): Promise<GrantRow>;
}
