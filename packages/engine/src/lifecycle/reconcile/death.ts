/**
 * Reports why an agent's VM ended where its owner reads it: the last lines of the console go to the agent's log, and the
 * reason goes to event and row. The lines come first, so a kill between the two repeats lines and loses none.
 */
import { reasonOfDeath, sentenceOfDeath } from '@lodge/domain';
import type { StatusReasonCode, VmDeath, VmDeathCode } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { NewLogEntry } from '@lodge/ports';
import { appendLog } from '@lodge/store/logs';
import { LineCleaner } from '../../logs/lines.ts';
import { StepFailed } from './pass.ts';
import type { Pass } from './pass.ts';

export interface ReportedDeath {
  readonly code: VmDeathCode;
  /** The code of an agent that is in `error` because of the death. */
  readonly reason: StatusReasonCode;
  /** One public sentence. */
  readonly message: string;
}

/** Bound on the question. It takes milliseconds, because the facts were written down when the VM ended. */
const askTimeoutMs = 10_000;

/** Reports the VM that is dead or halted on the host now. Null: none is, or nobody knows. */
export async function tellDeath(pass: Pass): Promise<ReportedDeath | null> {
  try {
    return await tell(pass, await pass.within(askTimeoutMs, () => pass.deps.driver.death(pass.id)));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    pass.logToOperator('warn', 'nothing says why a VM ended', { err: error.cause });
    return null;
  }
}

/** Reports the VM whose end made a start fail; null if the start failed for another reason. */
export async function tellFailedStart(pass: Pass, { cause }: StepFailed): Promise<ReportedDeath | null> {
  const inError = cause instanceof VmError ? cause.death : null;
  const reported = inError ? await tell(pass, inError) : await tellDeath(pass);
  if (reported)
    await log(pass, [{ level: 'warn', source: 'system', message: `The VM ended as it started. ${reported.message}` }]);
  return reported;
}

async function tell(pass: Pass, death: VmDeath | null): Promise<ReportedDeath | null> {
  if (!death) return null;
  const cleaner = new LineCleaner();
  const lines = death.console.flatMap((line): NewLogEntry[] => {
    const message = cleaner.clean(line);
    return message === null ? [] : [{ level: 'warn', source: 'console', message }];
  });
  const head: NewLogEntry = { level: 'warn', source: 'system', message: 'Last lines of the console:' };
  if (lines.length > 0) await log(pass, [head, ...lines]);
  const detail = new LineCleaner().clean(death.detail) ?? '';
  const message = sentenceOfDeath({ code: death.code, detail });
  pass.logToOperator('warn', 'VM ended, or stands still, by itself', { code: death.code, detail });
  return { code: death.code, reason: reasonOfDeath(death), message };
}

function log({ deps, id }: Pass, entries: readonly NewLogEntry[]): Promise<void> {
  return deps.database.transaction((trx) => appendLog(trx, id, entries));
}
