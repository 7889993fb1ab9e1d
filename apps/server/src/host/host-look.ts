/**
 * The machine as the running control plane sees it: the checks of `npm run doctor` that need no root, and the note of the last
 * backup.
 */
import type { HostLook } from '@lodge/ports';
import type { Config } from '../config/config.ts';
import { isRoot, isUnseen } from './finding.ts';
import { readLastBackup } from './last-backup.ts';

/** Sections of `doctor` that open the network or the machines, which only the machine host may. */
const rootsAlone = ['network', 'accelerator'];

/** `countPeople` gives how many people have an account. */
export function createHostLook(config: Config, countPeople: () => Promise<number>): HostLook {
  return {
    async findings() {
      const { hostFacts, lookAtHost } = await import('./weaknesses/table.ts');
      const people = await countPeople().catch(() => null);
      const all = await lookAtHost(await hostFacts(config, people));
      return {
        findings: all.filter((finding) => finding.name !== 'user' && !isUnseen(finding)),
        unseen: [...all.filter(isUnseen).map(({ name }) => name), ...(isRoot() ? [] : rootsAlone)],
      };
    },
    async backups() {
      const scheduled = {
        place: config.backupPlace,
        times: config.backupPlace === null ? [] : config.backupAt.map(timeOf),
      };
      try {
        const last = await readLastBackup(config);
        const known = last && { at: new Date(last.at), place: last.folder, name: last.name };
        return { ...scheduled, last: known, isKnown: true };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EACCES' && code !== 'EPERM') throw error;
        return { ...scheduled, last: null, isKnown: false };
      }
    },
  };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Minutes of the day as `03:30`. */
const timeOf = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
