/** Hosts that an agent's programs reach under their own names, and the secrets that the host fills in for them. */
import type { Variables } from '../agents/env.ts';
import { refusedVariable } from '../agents/env.ts';
import { Refusal } from '../refusal.ts';
import { mayBeSet } from './headers.ts';

export const hostBounds = {
  hosts: 16,
  hostChars: 253,
  secrets: 8,
  /** Headers in which one secret is filled in. */
  headers: 4,
  secretChars: 4_096,
} as const;

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a text in lower case is a whole name in the DNS: no address, no wildcard, and not a top level domain alone. */
export function isHostName(name: string): boolean {
  if (name.length > hostBounds.hostChars) return false;
  const labels = name.split('.');
  return labels.length >= 2 && labels.every((each) => label.test(each)) && !/^\d+$/.test(labels.at(-1)!);
}

/** Returns the hosts in lower case. Refuses with the field's name. `isOwn` tells names of this Lodge. */
export function checkedHosts(given: readonly string[], isOwn: (host: string) => boolean): readonly string[] {
  const hosts = given.map((host) => host.toLowerCase());
  for (const [index, host] of hosts.entries()) {
    const field = `hosts[${index}]`;
    if (host.includes('*')) throw fault(`${field} must be one whole name, without a wildcard.`);
    if (!isHostName(host)) throw fault(`${field} must be the name of a host such as api.example.com, and no address.`);
    if (isOwn(host) || host === 'localhost' || host.endsWith('.localhost'))
      throw fault(`${field} is a name of this service itself.`);
    if (hosts.indexOf(host) !== index) throw fault(`${field} is given twice.`);
  }
  return hosts;
}

/** A secret as its owner puts it. */
export interface HostSecretInput {
  readonly value: string;
  /** Names of the headers in which it is filled in. */
  readonly in: readonly string[];
}

/** Returns the secrets with their headers in lower case. Refuses with the field's name. */
export function checkedSecrets(given: Readonly<Record<string, HostSecretInput>>): ReadonlyMap<string, HostSecretInput> {
  return new Map(
    Object.entries(given).map(([name, secret]) => {
      const reason = refusedVariable(name);
      if (reason !== null) throw fault(`secrets.${name} cannot be the name of a variable, as it ${reason}.`);
      const headers = [...new Set(secret.in.map((header) => header.toLowerCase()))];
      const wrong = headers.findIndex((header) => !mayBeSet(header));
      if (wrong >= 0) throw fault(`secrets.${name}.in[${wrong}] is a header that Lodge sets by itself.`);
      return [name, { value: secret.value, in: headers }] as const;
    }),
  );
}

/** The text that stands for a secret in the machine. It is no secret itself. `random` are at least 16 letters and digits. */
export const placeholderOf = (secret: string, random: string): string =>
  `lodge-secret-${secret.toLowerCase().replaceAll('_', '-')}-${random}`;

/** The part of an agent's host connections that lies in its machine. None of it is a secret. */
export interface HostAccess {
  /** Names that lead to this host from there. */
  readonly hosts: readonly string[];
  /** Placeholders by the names of their variables. */
  readonly variables: Variables;
  /** The certificate of this Lodge's authority, as PEM. */
  readonly authority: string;
}

/** The authority's certificate in a machine, where Debian has further ones. */
export const authorityPath = '/usr/local/share/ca-certificates/lodge.crt';
const bundle = '/etc/ssl/certs/ca-certificates.crt';

/** Programs that bring certificates of their own are led to Debian's, among which the authority's is. */
const trust: Variables = {
  SSL_CERT_FILE: bundle,
  REQUESTS_CA_BUNDLE: bundle,
  CURL_CA_BUNDLE: bundle,
  GIT_SSL_CAINFO: bundle,
  NODE_EXTRA_CA_CERTS: authorityPath,
};

/** All variables of an agent's commands: the owner's, and those of its host connections. */
export const environmentOf = (env: Variables, access: HostAccess | null): Variables =>
  access === null ? env : { ...env, ...trust, ...access.variables };

const fault = (message: string): Refusal => new Refusal('invalid_request', message);
