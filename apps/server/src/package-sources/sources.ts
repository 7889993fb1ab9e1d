/** The hosts that packages come from: the public ones, or the operator's mirrors in their place. */
import type { PackageMirrors } from '@lodge/runtimes';
import type { Config } from '../config/config.ts';

type Settings = Pick<Config, 'packagesApt' | 'packagesPip' | 'packagesNpm' | 'packagesHosts' | 'egressProxy'>;

export const mirrorsOf = ({ packagesApt: apt, packagesPip: pip, packagesNpm: npm }: Settings): PackageMirrors => ({
  apt,
  pip,
  npm,
});

const publicHosts = {
  apt: ['deb.debian.org:80', 'deb.debian.org:443'],
  pip: ['pypi.org:443', 'files.pythonhosted.org:443'],
  npm: ['registry.npmjs.org:443'],
} as const;

export interface SourceHosts {
  /** As `host:port`, in lower case. They are reached through the operator's proxy, where there is one. */
  readonly public: ReadonlySet<string>;
  /** Those that the operator names. They may have private addresses. */
  readonly mirrors: ReadonlySet<string>;
}

export function sourceHosts(settings: Settings): SourceHosts {
  const { apt, pip, npm } = mirrorsOf(settings);
  const urls = {
    apt: apt?.map((line) => /https?:\/\/\S+/.exec(line)![0]),
    pip: pip === null ? undefined : [pip],
    npm: npm === null ? undefined : [npm],
  };
  const mirrors = [
    ...Object.values(urls)
      .flatMap((some) => some ?? [])
      .map(placeOf),
    ...(settings.packagesHosts ?? []),
  ];
  const open = (['apt', 'pip', 'npm'] as const).flatMap((manager) => (urls[manager] ? [] : publicHosts[manager]));
  return { public: new Set(open), mirrors: new Set(mirrors) };
}

/** Whether guests reach the sources by way of this host even if their own rules would let them. */
export const areThroughHost = ({ egressProxy, ...settings }: Settings): boolean =>
  egressProxy !== null || Object.values(mirrorsOf({ egressProxy, ...settings })).some((mirror) => mirror !== null);

export function placeOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
