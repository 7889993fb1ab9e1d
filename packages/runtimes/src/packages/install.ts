/**
 * Installs packages in a guest by `install.sh`, which root runs there through the daemon. Nothing of it stays in the guest
 * beside what it installs. Each tool has a deadline, at which the daemon ends its whole process group.
 */
import { readFileSync } from 'node:fs';
import { packageManagers } from '@lodge/domain';
import { guestBrokerPort, guestClient, hostAddress, maxExecTimeoutMs } from '@lodge/guest';
import type { ExecResult, GuestClient } from '@lodge/guest';
import type { GuestAddress, GuestPackages, InstallEnd, InstallFailure, WantedPackages } from '@lodge/ports';

/** The operator's mirrors; null for the public sources. */
export interface PackageMirrors {
  /** Lines of a sources.list, in which `{release}` stands for the name of the guest's Debian. */
  readonly apt: readonly string[] | null;
  /** URL of a simple index. */
  readonly pip: string | null;
  /** URL of a registry. */
  readonly npm: string | null;
}

const script = readFileSync(new URL('install.sh', import.meta.url), 'utf8');

/** Bounds of the short steps, each times the host's pace. */
const checkMs = 10_000;
const cleanMs = 120_000;
/** Output beyond it is dropped. The tools are told to be quiet. */
const maxOutputBytes = 256 * 1024;
const maxLines = 10;
const maxLineChars = 500;

interface Bounds {
  readonly toolMs?: number;
}

/** `toolMs` bounds each tool; the daemon's own bound by default. */
export function createGuestPackages(
  mirrors: PackageMirrors,
  { toolMs = maxExecTimeoutMs }: Bounds = {},
): GuestPackages {
  return {
    install: (guest, wanted, signal) => new Install(mirrors, toolMs, guest, wanted, signal).run(),
  };
}

class Install {
  private readonly mirrors: PackageMirrors;
  private readonly toolMs: number;
  private readonly guest: GuestClient;
  private readonly wanted: WantedPackages;
  private readonly signal: AbortSignal;

  constructor(
    mirrors: PackageMirrors,
    toolMs: number,
    guest: GuestAddress,
    wanted: WantedPackages,
    signal: AbortSignal,
  ) {
    this.mirrors = mirrors;
    this.toolMs = toolMs;
    this.guest = guestClient(guest);
    this.wanted = wanted;
    this.signal = signal;
  }

  async run(): Promise<InstallEnd> {
    const { packages, digest } = this.wanted;
    const { stdout } = await this.step(['check'], checkMs);
    if (stdout.trim() === digest) return { kind: 'there' };
    // An earlier install may have been cut off with everything that ran in the guest.
    await this.clean();
    for (const manager of packageManagers) {
      const result = await this.step([manager, ...packages[manager]], this.toolMs);
      if (result.exitCode === 0 && !result.timedOut) continue;
      return { kind: 'failed', manager, why: this.reason(result, await this.clean()), lastLines: lastLines(result) };
    }
    const { exitCode } = await this.step(['done', digest], cleanMs * this.guest.pace);
    if (exitCode !== 0) throw new Error('the guest did not note what is installed');
    await this.guest.sync(false, { signal: this.signal });
    return { kind: 'installed' };
  }

  /** Returns whether the step before ended because the disk was about to be full. */
  private async clean(): Promise<boolean> {
    const { stdout } = await this.step(['clean'], cleanMs * this.guest.pace);
    return stdout.split('\n').includes('full');
  }

  private reason({ timedOut, exitCode }: ExecResult, isFull: boolean): InstallFailure {
    if (isFull) return { kind: 'disk_full' };
    if (timedOut) return { kind: 'too_long', seconds: Math.round(this.toolMs / 1000) };
    return { kind: 'ended', status: exitCode };
  }

  private step(argv: readonly string[], boundMs: number): Promise<ExecResult> {
    return this.guest.exec(
      {
        argv: ['sh', '-c', script, 'install', ...argv],
        user: 'root',
        cwd: '/',
        env: this.environment(),
        timeoutMs: Math.min(Math.round(boundMs), maxExecTimeoutMs),
        maxOutputBytes,
      },
      { signal: this.signal },
    );
  }

  private environment(): Readonly<Record<string, string>> {
    const { apt, pip, npm } = this.mirrors;
    return {
      ...(apt !== null && { LODGE_APT: apt.join('\n') }),
      ...(pip !== null && { LODGE_PIP: pip }),
      ...(pip !== null && pip.startsWith('http:') && { LODGE_PIP_PLAIN: new URL(pip).host }),
      ...(npm !== null && { LODGE_NPM: npm }),
      ...(this.wanted.throughHost && { LODGE_PROXY: `http://${hostAddress}:${guestBrokerPort}` }),
    };
  }
}

/** A tool's complaints come last, after its reports. */
function lastLines({ stdout, stderr }: ExecResult): string[] {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-maxLines).map((line) => line.slice(0, maxLineChars));
}
