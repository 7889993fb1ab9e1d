import type { PackageManager, Packages } from '@lodge/domain';
import type { GuestAddress } from './guest-address.ts';

/** Installs packages in guests, as root. A guest is hostile: what it answers is bounded and believed in nothing else. */
export interface GuestPackages {
  /**
   * Brings the packages of a guest to those wanted, and removes what an earlier install has brought and nobody wants any more.
   * May be interrupted at any point and repeated. Bounded in time. On success all of it is on the guest's disk. Rejects when
   * the guest does not answer.
   */
  install(guest: GuestAddress, wanted: WantedPackages, signal: AbortSignal): Promise<InstallEnd>;
}

export interface WantedPackages {
  readonly packages: Packages;
  /** Names this set of packages. The guest keeps it, so that packages that are there cost one question. */
  readonly digest: string;
  /** Whether the sources are reached through the host, as the agent's own rules do not reach them. */
  readonly throughHost: boolean;
}

/** `there`: nothing was to be done. */
export type InstallEnd =
  | { readonly kind: 'there' | 'installed' }
  | {
      readonly kind: 'failed';
      readonly manager: PackageManager;
      readonly why: InstallFailure;
      /** The last lines that the tool wrote. They are a guest's, of bounded number and length. */
      readonly lastLines: readonly string[];
    };

/** `status`: how the tool ended, null when a signal ended it. */
export type InstallFailure =
  | { readonly kind: 'ended'; readonly status: number | null }
  | { readonly kind: 'too_long'; readonly seconds: number }
  | { readonly kind: 'disk_full' };
