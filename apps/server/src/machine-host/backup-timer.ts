/**
 * Backups that make themselves, where a place is set. The note of the last whole backup decides when the next one is due. So
 * neither a kill of Lodge nor a machine that was off at the time loses one: it is made at the next look. Each is a process
 * of its own, the same command that a person would give, and goes on when Lodge ends.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Log } from '@lodge/ports';
import type { Config } from '../config/config.ts';
import { readLastBackup } from '../host/last-backup.ts';

const lookEveryMs = 60_000;
/** A failed backup is tried again: a place may come back. */
const retryMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const command = fileURLToPath(new URL('../cli/main.ts', import.meta.url));

export interface BackupTimer {
  stop(): void;
}

/** `env` is the command's environment, with secrets of the settings. */
export function startBackupTimer(config: Config, env: NodeJS.ProcessEnv, log: Log): BackupTimer {
  let lastTry = -Infinity;
  let isUnderWay = false;
  const look = async (): Promise<void> => {
    if (isUnderWay || performance.now() - lastTry < retryMs) return;
    isUnderWay = true;
    try {
      const last = await readLastBackup(config);
      if (!isDue(config.backupAt, last?.at ?? null, Date.now())) return;
      lastTry = performance.now();
      const code = await runBackup(env);
      if (code === 0) lastTry = -Infinity;
      if (code === 0) log.info({ place: config.backupPlace }, 'backup made');
      else
        log.error({ place: config.backupPlace }, 'no backup was made; its own words are above, and it is tried again');
    } catch (error) {
      log.error({ err: error }, 'the backup could not be started');
    } finally {
      isUnderWay = false;
    }
  };
  if (config.backupPlace === null) return { stop: () => undefined };
  const timer = setInterval(() => void look(), lookEveryMs);
  void look();
  return { stop: () => clearInterval(timer) };
}

/** Whether one of the times of day (minutes, UTC) has come since the last backup began; without any it is due at once. */
export function isDue(times: readonly number[], lastAt: string | null, nowMs: number): boolean {
  if (lastAt === null) return true;
  const midnight = Math.floor(nowMs / dayMs) * dayMs;
  const all = [midnight - dayMs, midnight].flatMap((day) => times.map((time) => day + time * minuteMs));
  const latest = Math.max(...all.filter((at) => at <= nowMs));
  return Date.parse(lastAt) < latest;
}

/** Runs in a session of its own, so that a signal for Lodge's session does not reach it. */
function runBackup(env: NodeJS.ProcessEnv): Promise<number | null> {
  const argv = [...process.execArgv, command, 'backup'];
  const child = spawn(process.execPath, argv, { env, detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
  child.unref();
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', resolve);
  });
}
