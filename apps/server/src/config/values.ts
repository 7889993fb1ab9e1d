/** Parsers of configuration values. Each throws an Error whose message completes "LODGE_X must be ...". */
import { isAbsolute, normalize } from 'node:path';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { isJsonObject, trimEndOf } from '@lodge/domain';
import { fail, matching, origin } from '@lodge/ports/settings';

export function decimal(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most) fail(`a number from ${least} to ${most}`);
    return value;
  };
}

export function oneOf<const T extends readonly string[]>(...values: T): (text: string) => T[number] {
  return (text) => (values.includes(text) ? text : fail(`one of ${values.join(', ')}`));
}

export function directory(text: string): string {
  if (!isAbsolute(text)) fail('an absolute path');
  const path = trimEndOf(normalize(text), '/');
  // QEMU's options separate their parts by commas, and unix socket paths end at 107 bytes.
  if (!/^\/[\w./@+-]+$/.test(path) || path.length > 60) fail('an absolute path of up to 60 letters, digits and ./_-+@');
  return path;
}

export function host(text: string): string {
  return isIP(text) || text === 'localhost' ? text : fail('an IP address of this machine, 0.0.0.0 or localhost');
}

const privateRanges = new BlockList();
privateRanges.addSubnet('10.0.0.0', 8);
privateRanges.addSubnet('172.16.0.0', 12);
privateRanges.addSubnet('192.168.0.0', 16);
privateRanges.addSubnet('100.64.0.0', 10);

export function networkRange(text: string): string {
  const [address = '', bits = ''] = text.split('/');
  const length = Number(bits);
  if (!isIPv4(address) || !/^\d+$/.test(bits) || length < 16 || length > 24) {
    fail('an IPv4 range from /16 to /24, such as 10.201.0.0/16');
  }
  if (!privateRanges.check(address))
    fail('a private range: within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10');
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  if (value % 2 ** (32 - length) !== 0) fail(`the first address of its range: host bits of ${text} are set`);
  const range = new BlockList();
  range.addSubnet(address, length);
  // Inside every VM this is the link to its own namespace (packages/guest/src/protocol.ts).
  if (range.check('10.0.2.15')) fail('a range without 10.0.2.0/24, which the VMs use inside');
  return `${address}/${length}`;
}

export function resolver(text: string): string {
  if (text === 'auto' || text === 'none') return text;
  return isIPv4(text) && !text.startsWith('127.')
    ? text
    : fail('auto, none, or the IPv4 address of a resolver that is not on loopback');
}

export function proxyUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail('an http or https URL such as http://proxy.example.com:3128');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') fail('an http or https URL');
  if (url.pathname !== '/' || url.search || url.hash) fail('a URL without a path');
  return url.href;
}

export function databaseUrl(text: string): string {
  return /^postgres(ql)?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')
    ? text
    : fail('a URL such as postgres://user:password@host:5432/lodge');
}

export function jsonArray(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    fail('valid JSON');
  }
  return Array.isArray(value) ? text : fail('a JSON array');
}

export function jsonObject(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    fail('valid JSON');
  }
  return isJsonObject(value) ? text : fail('a JSON object');
}

/** `03:30` or `03:30,15:30`, as minutes of the day in order. */
export function listOfTimes(text: string): readonly number[] {
  const times = text.split(',').map((each) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(each.trim()));
  const minutes = times.map((found) =>
    found ? Number(found[1]) * 60 + Number(found[2]) : fail('times such as 03:30'),
  );
  return minutes.length <= 24 ? minutes.toSorted((a, b) => a - b) : fail('24 times of the day at most');
}

/** `192.0.2.7, 10.0.0.0/8, ::1`; nothing is none. */
export function addressRanges(text: string): readonly string[] {
  return listOf(text, (item) => {
    const [address = '', bits, ...rest] = item.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    return isIP(address) && isRange && rest.length === 0
      ? item
      : fail('IP addresses and ranges such as 10.0.0.0/8, parted by commas');
  });
}

/** `198.51.100.0/24, 192.0.2.7`; nothing is none. */
export function ipv4Blocks(text: string): readonly string[] {
  return listOf(text, (item) => {
    const [address = '', bits = '32', ...rest] = item.split('/');
    const isBlock = isIPv4(address) && /^(\d|[12]\d|3[0-2])$/.test(bits) && rest.length === 0;
    const base = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    return isBlock && base % 2 ** (32 - Number(bits)) === 0
      ? item
      : fail('IPv4 blocks such as 198.51.100.0/24, each by its first address, parted by commas');
  });
}

export const origins = (text: string): readonly string[] => listOf(text, origin);

function listOf(text: string, parse: (item: string) => string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map(parse);
}

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
export const dnsName = matching(new RegExp(`^(?=.{1,190}$)${label}(\\.${label})*$`), 'a lower-case DNS name');
export const urlPrefix = matching(
  /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/,
  'up to 40 lower-case letters, digits and hyphens',
);
