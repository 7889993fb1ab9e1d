import { useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/form/field.tsx';
import { Notice, Reason } from '../../components/notice.tsx';
import { formatNumber } from '../../format.ts';
import { countOf, useBulk } from './bulk.ts';
import type { BulkFailure, BulkProgress, BulkVerb } from './bulk.ts';

const words: Readonly<Record<BulkVerb, { readonly title: string; readonly done: string; readonly meaning: string }>> = {
  start: { title: 'Start', done: 'started', meaning: 'Each goes on where it was, and uses memory of this host again.' },
  stop: {
    title: 'Stop',
    done: 'stopped',
    meaning: 'Each finishes its turn first and keeps its files, memory and conversations. Schedules and messages wait.',
  },
  delete: {
    title: 'Delete',
    done: 'deleted',
    meaning: 'Their machines, files and conversations are gone for good. This cannot be undone.',
  },
};

/** More names than this say no more. */
const maxNames = 8;

interface BulkDialogProps {
  readonly verb: BulkVerb;
  readonly agents: readonly Agent[];
  /** True when anything was done. */
  readonly onClose: (isDone: boolean) => void;
}

/** Asks first, then shows how far it is, and at the end which agents failed and why. */
export function BulkDialog({ verb, agents, onClose }: BulkDialogProps) {
  const { progress, run, end } = useBulk();
  const { title, done } = words[verb];
  const state = progress.state === 'idle' ? 'ask' : progress.state === 'over' ? 'over' : 'working';
  return (
    <Dialog
      title={
        state === 'over' ? overTitle(progress, done) : `${title} ${countOf(agents.length)}${state === 'ask' ? '?' : ''}`
      }
      onClose={() => onClose(state === 'over')}
      dismissable={state !== 'working'}
      step={state}
    >
      {state === 'ask' && (
        <Ask verb={verb} agents={agents} run={() => void run(verb, agents)} cancel={() => onClose(false)} />
      )}
      {state === 'working' && <Working progress={progress} done={done} end={end} />}
      {state === 'over' && <Over progress={progress} close={() => onClose(true)} />}
    </Dialog>
  );
}

interface AskProps extends Pick<BulkDialogProps, 'verb' | 'agents'> {
  readonly run: () => void;
  readonly cancel: () => void;
}

function Ask({ verb, agents, run, cancel }: AskProps) {
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const isDelete = verb === 'delete';
  const wanted = String(agents.length);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isDelete && typed.trim() !== wanted) setIsWrong(true);
        else run();
      }}
      className="flex flex-col gap-5"
    >
      <div className="flex flex-col gap-3 text-muted">
        <p>{words[verb].meaning}</p>
        <p className="wrap-anywhere text-ink">
          {agents
            .slice(0, maxNames)
            .map(({ name }) => name)
            .join(', ')}
          {agents.length > maxNames && ` and ${formatNumber(agents.length - maxNames)} more`}
        </p>
      </div>
      {isDelete && (
        <TextField
          label={`Type ${wanted} to confirm`}
          data-autofocus=""
          autoComplete="off"
          inputMode="numeric"
          maxLength={8}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setIsWrong(false);
          }}
          error={isWrong ? `Type ${wanted}, the number of agents that are deleted.` : undefined}
        />
      )}
      <DialogActions>
        <Button onClick={cancel} {...(!isDelete && { 'data-autofocus': true })}>
          Cancel
        </Button>
        <Button type="submit" variant={isDelete ? 'danger' : 'primary'}>
          {words[verb].title} {countOf(agents.length)}
        </Button>
      </DialogActions>
    </form>
  );
}

function Working({
  progress: { total, ended, failures, state },
  done,
  end,
}: {
  progress: BulkProgress;
  done: string;
  end: () => void;
}) {
  return (
    <>
      <div className="flex flex-col gap-2">
        <progress aria-label="Progress" max={total} value={ended} className="h-2 w-full accent-accent" />
        <p role="status" className="text-muted tabular-nums">
          {formatNumber(ended - failures.length)} of {countOf(total)} {done}
          {failures.length > 0 && `, ${formatNumber(failures.length)} failed`}
        </p>
      </div>
      <DialogActions>
        <Button onClick={end} pending={state === 'ending'}>
          {state === 'ending' ? 'Ending…' : 'End after these'}
        </Button>
      </DialogActions>
    </>
  );
}

function overTitle({ total, ended, failures }: BulkProgress, done: string): string {
  const succeeded = ended - failures.length;
  return succeeded === total ? `${countOf(total)} ${done}` : `${formatNumber(succeeded)} of ${countOf(total)} ${done}`;
}

function Over({
  progress: { total, ended, underWay, failures },
  close,
}: {
  progress: BulkProgress;
  close: () => void;
}) {
  return (
    <>
      {underWay > 0 && (
        <p className="text-muted">
          {countOf(underWay)} {underWay === 1 ? 'takes' : 'take'} longer. The list shows when{' '}
          {underWay === 1 ? 'it is' : 'they are'} ready.
        </p>
      )}
      {ended < total && (
        <p className="text-muted">You ended this before {countOf(total - ended)} had a turn. They are as they were.</p>
      )}
      {failures.length > 0 && <Failures failures={failures} />}
      <DialogActions>
        <Button variant="primary" data-autofocus onClick={close}>
          Close
        </Button>
      </DialogActions>
    </>
  );
}

function Failures({ failures }: { readonly failures: readonly BulkFailure[] }) {
  return (
    <Notice kind="error" alert>
      <p className="font-medium">{countOf(failures.length)} failed:</p>
      <ul className="mt-1 max-h-60 overflow-y-auto">
        {failures.map(({ agent, error }) => (
          <li key={agent.id} className="py-0.5 wrap-anywhere">
            <span className="font-medium">{agent.name}</span>: <Reason error={error} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}
