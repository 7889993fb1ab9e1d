/** `lodge apply`: reads and checks the files, shows what would change, asks, and carries it out. */
import { CommandError, exitCodes, failureLines, usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { confirm } from '../terminal/prompt.ts';
import { safeLine } from '../terminal/safe.ts';
import { carryOut } from './carry-out.ts';
import type { Outcome } from './carry-out.ts';
import { pooled } from './pool.ts';
import { changesOf, makePlan } from './plan.ts';
import type { Plan } from './plan.ts';
import { SecretsOut } from './secrets-out.ts';
import { planJson, planText } from './show.ts';
import { WrongFiles, agentsSchema, readWanted } from './file/wanted.ts';

export interface ApplyOptions {
  readonly file?: readonly string[];
  readonly plan?: true;
  readonly dryRun?: true;
  readonly prune?: true;
  readonly label?: Readonly<Record<string, string>>;
  readonly secretsOut?: string;
  readonly checkFiles?: true;
  readonly parallel: number;
  readonly wait?: true;
  readonly schema?: true;
}

const waitMs = 30 * 60_000;

export async function apply(run: Run, options: ApplyOptions): Promise<void> {
  if (options.schema) return run.out.write(`${JSON.stringify(await agentsSchema(), null, 2)}\n`);
  if (options.label !== undefined && options.prune !== true) throw usageError('-l goes with --prune.');
  const isPlan = options.plan === true || options.dryRun === true;
  const plan = await planned(run, options);
  const secretsOut = options.secretsOut === undefined ? null : await SecretsOut.open(options.secretsOut);
  const changes = changesOf(plan).length;
  if (isPlan || changes === 0) {
    run.out.result(planJson(plan), () => planText(run.out, plan));
    if (changes > 0) process.exitCode = exitCodes.pending;
    return;
  }
  if (!run.out.isJson) run.out.write(planText(run.out, plan));
  if (secretsOut === null && changesOf(plan).some(({ yieldsSecret }) => yieldsSecret))
    throw usageError(
      'The plan makes hooks or webhooks, whose addresses and secrets the server shows once. Nothing was changed.',
      'Give --secrets-out FILE: they are written to it.',
    );
  if (!run.isYes) await confirm(run, 'Carry it out?');
  const lodge = await run.lodge();
  const outcome = await carryOut(run, lodge, plan, { secretsOut, atOnce: options.parallel });
  if (options.wait) await waitForAll(run, plan, outcome);
  report(run, plan, outcome);
}

async function planned(run: Run, options: ApplyOptions): Promise<Plan> {
  try {
    const wanted = await readWanted(run, options.file);
    return await withProgress(run.out, 'Reading what is there', () =>
      makePlan(run, wanted, {
        isPruned: options.prune === true,
        labels: options.label,
        isChecked: options.checkFiles === true,
      }),
    );
  } catch (error) {
    if (error instanceof WrongFiles) tellWrong(run, error);
    throw error;
  }
}

/** Tells each problem with its file and line. */
function tellWrong(run: Run, { problems }: WrongFiles): never {
  if (run.out.isJson) run.out.result({ object: 'problems', problems }, () => '');
  else
    for (const { file, line, path, message } of problems)
      run.out.note(safeLine(`${file}${line === null ? '' : `:${line}`}: ${path === '' ? '' : `${path}: `}${message}.`));
  const count = problems.length === 1 ? 'There is a problem' : `There are ${problems.length} problems`;
  throw usageError(`${count} in the files. Nothing was changed.`, '`lodge apply --schema` prints what they may have.');
}

async function waitForAll(run: Run, plan: Plan, { made, failed }: Outcome): Promise<void> {
  const lodge = await run.lodge();
  const lost = new Set(failed.map(({ agent }) => agent));
  const stopped = new Set(
    plan.agents.filter(({ steps }) => steps.some(({ action }) => action === 'stop')).map(({ name }) => name),
  );
  const waiting = [...made].filter(([name]) => !lost.has(name) && !stopped.has(name));
  await withProgress(run.out, 'Waiting until the new agents run', () =>
    pooled(waiting, 8, run.signal, ([, id]) =>
      lodge.agents.waitUntil(id, 'running', { ...run.call, timeoutMs: waitMs }),
    ),
  );
}

function report(run: Run, plan: Plan, { done, failed, made }: Outcome): void {
  const failures = failed.map(({ agent, what, failure }) => ({
    agent,
    what,
    code: failure.code,
    message: failure.message,
    request_id: failure.requestId,
  }));
  const result = { object: 'apply', plan: planJson(plan), done, made: Object.fromEntries(made), failed: failures };
  run.out.result(result, () => `Done: ${done} of ${changesOf(plan).length}.\n`);
  if (failed.length === 0) return;
  if (!run.out.isJson)
    for (const { agent, what, failure } of failed) {
      const place = [agent, what].filter((part) => part !== null && part !== '').join(', ');
      const message = `${safeLine(place, 200)}: ${failure.message}`;
      for (const line of failureLines({ ...failure, message })) run.out.note(line);
    }
  throw new CommandError(
    exitCodes.failure,
    failed.length === 1 ? 'One change failed.' : `${failed.length} changes failed.`,
    'The rest was carried out. Run it again when the cause is mended: what is done is not done twice.',
  );
}
