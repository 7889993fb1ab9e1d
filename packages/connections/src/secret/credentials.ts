import { isCredentialHeader } from '@lodge/domain';
import {
  connectionClientSecretContext,
  connectionGrantContext,
  connectionHeaderContext,
  connectionSecretContext,
} from '@lodge/ports';
import type { ConnectionRow, ConsentClient, Grant, SecretBox } from '@lodge/ports';
import type { OpenSecret } from '../host/fill.ts';
import { Sought } from './echo-search.ts';
import { secretsOf } from './secrets.ts';

/** Values are in the clear and never logged. */
export interface Credentials {
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Secrets that its server's answers may not contain. */
  readonly sought: Sought;
}

const mostKept = 200;

/** Opens secrets of connections, and keeps the prepared search for them while a connection is in use. */
export class CredentialBook {
  readonly #secrets: SecretBox;
  readonly #sought = new Map<string, Sought>();

  constructor(secrets: SecretBox) {
    this.#secrets = secrets;
  }

  of(row: ConnectionRow): Credentials {
    const { agentId, name: connection, headers: sealed, revision, oauth } = row;
    const own = Object.fromEntries(
      sealed.map((header) => {
        const context = connectionHeaderContext(agentId, connection, header.name);
        return [header.name.toLowerCase(), this.#secrets.open(header.sealed, context)];
      }),
    );
    const grant = this.grantOf(row);
    const headers = grant === null ? own : { ...own, authorization: `Bearer ${grant.accessToken}` };
    const key = `${revision}/${oauth?.version ?? ''}`;
    const before = grant?.before == null ? {} : { before: grant.before };
    const make = (): Sought => {
      const filled = this.ofHosts(row).map(({ value }) => value);
      return new Sought([...new Set([...secretsOf({ ...credentialsOf(headers), ...before }), ...filled])]);
    };
    return { headers, sought: this.#kept(key, make) };
  }

  /** Opens the secrets of a host connection. */
  ofHosts({ agentId, name, secrets }: ConnectionRow): readonly OpenSecret[] {
    return secrets.map(({ name: secret, sealed, headers, placeholder }) => ({
      value: this.#secrets.open(sealed, connectionSecretContext(agentId, name, secret)),
      headers,
      placeholder,
    }));
  }

  #kept(key: string, make: () => Sought): Sought {
    const sought = this.#sought.get(key) ?? make();
    this.#sought.delete(key);
    this.#sought.set(key, sought);
    if (this.#sought.size > mostKept) this.#sought.delete(this.#sought.keys().next().value!);
    return sought;
  }

  /** Returns the grant. Null when there is none, or it was for another URL. */
  grantOf({ agentId, name, url, oauth }: ConnectionRow): Grant | null {
    if (oauth?.grant == null) return null;
    const grant = JSON.parse(this.#secrets.open(oauth.grant.sealed, connectionGrantContext(agentId, name))) as Grant;
    return grant.url === url ? grant : null;
  }

  /** Returns the owner's client, or null. */
  clientOf({ agentId, name, oauth }: ConnectionRow): ConsentClient | null {
    if (oauth?.clientId == null) return null;
    const { clientId: id, clientSecret } = oauth;
    const context = connectionClientSecretContext(agentId, name);
    return { id, secret: clientSecret && this.#secrets.open(clientSecret.sealed, context) };
  }

  sealed({ agentId, name }: ConnectionRow, grant: Grant): string {
    return this.#secrets.seal(JSON.stringify(grant), connectionGrantContext(agentId, name));
  }
}

const credentialsOf = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isCredentialHeader(name)));
