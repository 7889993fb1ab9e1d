/** How clients and browsers reach this Lodge. */
import { BlockList, isIP } from 'node:net';
import { publicUrl } from '../../config/public-url.ts';
import { note, ok, warn } from '../finding.ts';
import type { Check } from './check.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** A name or address that leads to the machine itself. */
function isLocal(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '');
  const family = isIP(plain);
  if (family !== 0) return loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  return plain === 'localhost' || plain.endsWith('.localhost');
}

const tlsAdvice =
  'put a proxy with TLS before it and set LODGE_PUBLIC_URL=https://... (docs/guides/caddy.md), or set LODGE_TLS_CERT';

const transport: Check = {
  name: 'transport',
  look({ config }, name) {
    const url = publicUrl(config);
    const [origin, host] = [url.origin, url.hostname];
    if (url.protocol === 'https:') return ok(name, `clients reach the API at ${origin}`);
    const names = [host, config.agentsDomain].filter((each) => !isLocal(each));
    if (names.length > 0) {
      const detail = `plain http on ${names.join(' and ')}: passwords, keys and cookies cross the network in the clear, and agents' pages can set cookies of the API's name`;
      return warn(name, detail, tlsAdvice);
    }
    if (!isLocal(config.host)) {
      return warn(
        name,
        `plain http on every network of ${config.host}: passwords and keys cross it in the clear`,
        tlsAdvice,
      );
    }
    return ok(name, `plain http, on this machine alone (${origin})`);
  },
};

/** The common last labels of two names; null if these are only a registry's own, such as `com` or `co.uk`. */
export function sharedDomain(one: string, other: string): string | null {
  const [first, second] = [one, other].map((name) => name.split('.').toReversed());
  const end = first!.findIndex((label, i) => label !== second![i]);
  const shared = first!.slice(0, end === -1 ? first!.length : end);
  const [top = '', next = ''] = shared;
  const isRegistrys =
    shared.length < 2 || (shared.length === 2 && top.length === 2 && /^(ac|co|com|edu|gov|net|or|org)$/.test(next));
  return isRegistrys ? null : shared.toReversed().join('.');
}

const agentsDomain: Check = {
  name: "agents' domain",
  look({ config: { agentsDomain: domain, ...config } }, name) {
    const api = publicUrl(config).hostname;
    if (isLocal(domain) || isIP(api) !== 0) return ok(name, domain);
    const shared = sharedDomain(api, domain);
    if (shared === null) return ok(name, `${domain}, another site than ${api}`);
    const detail = `${domain} and ${api} share ${shared}: agents' pages are of the API's own site, and can fill browsers with its cookies`;
    return warn(name, detail, 'set LODGE_AGENTS_DOMAIN to a name below a domain of its own (docs/guides/addresses.md)');
  },
};

const registration: Check = {
  name: 'registration',
  look({ config }, name) {
    if (config.registration === 'closed') return ok(name, 'by invitation');
    const detail =
      'anyone who reaches the account area makes an account; e-mails are not verified, and whether one is taken can be found out';
    return warn(name, detail, 'set LODGE_REGISTRATION=closed and invite people');
  },
};

const metrics: Check = {
  name: 'metrics',
  look({ config: { metricsPort, metricsHost } }, name) {
    if (metricsPort === null) return ok(name, 'not served');
    if (isLocal(metricsHost)) return ok(name, `at ${metricsHost}:${metricsPort}`);
    return warn(name, `at ${metricsHost}:${metricsPort}, without a key`, 'let only Prometheus reach that port');
  },
};

const proxies: Check = {
  name: 'proxies',
  look({ config }, name) {
    const { trustedProxies, publicUrl: isNamed, host } = config;
    if (trustedProxies.some((range) => range.endsWith('/0'))) {
      const detail =
        'LODGE_TRUSTED_PROXIES trusts everybody: any client chooses the address that its attempts and limits count for';
      return warn(name, detail, "name the proxy's own address");
    }
    if (isNamed !== null && isLocal(host) && trustedProxies.length === 0) {
      const detail = 'all clients come from one address: limits and waits of one hold for all';
      return warn(name, detail, 'set LODGE_TRUSTED_PROXIES to the address of the proxy, such as 127.0.0.1');
    }
    return trustedProxies.length === 0 ? note(name, 'none is trusted') : ok(name, trustedProxies.join(', '));
  },
};

export const webChecks: readonly Check[] = [transport, agentsDomain, registration, metrics, proxies];
