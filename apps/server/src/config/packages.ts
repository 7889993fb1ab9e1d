/** Settings of the sources that agents' packages are installed from. */
import { fail, integer, optional, required } from '@lodge/ports/settings';

export const packageSettings = {
  packagesApt: optional(
    'LODGE_PACKAGES_APT',
    'lines of a sources.list, parted by semicolons',
    "the image's: Debian's own",
    'Mirrors of Debian, such as `deb http://mirror.example/debian {release} main`, where `{release}` stands for the name of the Debian in the machine. They are reached by this host for the machine, so they may be in a private network.',
    aptLines,
  ),
  packagesPip: optional(
    'LODGE_PACKAGES_PIP',
    'http(s) URL',
    'pypi.org',
    'The simple index that Python packages come from, such as `https://mirror.example/simple`.',
    url,
  ),
  packagesNpm: optional(
    'LODGE_PACKAGES_NPM',
    'http(s) URL',
    'registry.npmjs.org',
    'The registry that npm packages come from, such as `https://mirror.example/npm/`.',
    url,
  ),
  packagesHosts: optional(
    'LODGE_PACKAGES_HOSTS',
    '`host` or `host:port`, parted by commas',
    'none beside the mirrors',
    'Further hosts that the mirrors lead to, such as one that keeps their files. Without a port it is 443.',
    hosts,
  ),
  packagesTimeoutMs: required(
    'LODGE_PACKAGES_TIMEOUT_MS',
    'milliseconds, 1000..600000',
    '600000',
    'How long apt, pip and npm may each take to install the packages of an agent.',
    integer(1000, 600_000),
  ),
} as const;

const aptLine = /^deb (?:\[[\w.,:=/ +-]+\] )?https?:\/\/[\w.:/{}~+-]+(?: [\w.{}/-]+)+$/;

function aptLines(text: string): readonly string[] {
  const lines = text
    .split(';')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => !aptLine.test(line)))
    fail('lines such as `deb http://mirror.example/debian {release} main`');
  return lines;
}

function url(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : fail('a URL such as https://mirror.example/simple');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') fail('an http or https URL');
  if (parsed.username || parsed.password || parsed.search || parsed.hash) fail('a URL without a password or a query');
  return parsed.href;
}

function hosts(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  if (names.some((name) => !/^[a-z0-9.-]+(?::\d{1,5})?$/.test(name))) fail('hosts such as files.mirror.example');
  return names.map((name) => (name.includes(':') ? name : `${name}:443`));
}
