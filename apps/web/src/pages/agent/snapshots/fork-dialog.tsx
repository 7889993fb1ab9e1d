import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { forkIncludes, maxForks } from '@lodge/contract/words';
import type { Agent, Fork, Snapshot } from '@lodge/sdk';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { CheckField } from '../../../components/form/check-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { Failure } from '../../../components/notice.tsx';
import { pathTo } from '../../../paths.ts';
import { snapshotChanges, snapshotsKey } from './queries.ts';
import { titleOf } from './snapshot-words.ts';

interface ForkProps {
  readonly agent: Agent;
  /** Undefined: from how it is now. */
  readonly snapshot?: Snapshot;
  readonly onClose: () => void;
}

/** Makes agents that go on from where this one is or was. */
export function ForkDialog({ agent, snapshot, onClose }: ForkProps) {
  const [made, setMade] = useState<Fork | null>(null);
  const form = useFork(agent, snapshot, setMade);
  if (made !== null) return <Made made={made} onClose={onClose} />;
  const where = snapshot === undefined ? 'where it is now' : `where it was at ${titleOf(snapshot)}`;
  return (
    <Dialog title={`Fork ${agent.name}`} onClose={onClose} dismissable={!form.pending} step="form">
      <Form form={form} className="flex flex-col gap-5">
        <p className="text-muted">
          New agents go on from {where}, each for itself: with its memory, files, members, skills and settings, and
          without its channels, hooks and links.
          {agent.spend_limit !== null && ' Each has an equal part of its spend limit.'}
          {snapshot === undefined && ' A turn in hand ends first, and the agent itself goes on.'}
        </p>
        <div className="grid gap-5 sm:grid-cols-[8rem_minmax(0,1fr)]">
          <TextField
            label="How many"
            name="count"
            data-autofocus
            inputMode="numeric"
            autoComplete="off"
            maxLength={2}
            defaultValue="1"
            error={form.problems.count}
          />
          <TextField
            label="Name"
            name="name"
            optional
            maxLength={100}
            autoComplete="off"
            placeholder={`${agent.name.slice(0, 60)} fork`}
            hint="Several have a number behind it."
          />
        </div>
        <Includes />
        <Failure error={form.failure} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" pending={form.pending}>
            Make forks
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

const includeWords: Readonly<Record<(typeof forkIncludes)[number], readonly [label: string, hint: string]>> = {
  schedules: ['Its schedules', 'All turned off, with answers to no channel.'],
  connections: ['Its connections', 'Without consents that were given by OAuth.'],
  ports: ['Its published ports', 'Each at an address of its own.'],
  browser: ['The profile of its browser', 'With all its logins.'],
};

function Includes() {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-3 font-medium">They get too</legend>
      <CheckField
        label="Its keys of model providers"
        name="llm_keys"
        defaultChecked
        hint="Without them each needs keys of its own."
      />
      {forkIncludes.map((name) => (
        <CheckField key={name} label={includeWords[name][0]} hint={includeWords[name][1]} name="include" value={name} />
      ))}
    </fieldset>
  );
}

function useFork(agent: Agent, snapshot: Snapshot | undefined, done: (made: Fork) => void) {
  const client = useQueryClient();
  return useForm<'count' | 'name', Fork>({
    check: (data) => {
      const count = text(data, 'count').trim();
      const isCount = /^[1-9]\d?$/.test(count) && Number(count) <= maxForks;
      return isCount ? {} : { count: `Enter 1 to ${maxForks}.` };
    },
    send: (data) => {
      const name = text(data, 'name').trim();
      return snapshotChanges.fork(agent.id, {
        count: Number(text(data, 'count')),
        ...(name !== '' && { name }),
        ...(snapshot !== undefined && { snapshot: snapshot.id }),
        include: forkIncludes.filter((one) => data.getAll('include').includes(one)),
        llm_keys: data.has('llm_keys') ? 'copy' : 'none',
      });
    },
    done: async (made) => {
      done(made);
      const stale = [['agents'], ['limits'], snapshotsKey(agent.id)];
      await Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
}

function Made({ made: { data }, onClose }: { readonly made: Fork; readonly onClose: () => void }) {
  return (
    <Dialog
      title={data.length === 1 ? 'The fork is made' : `${data.length} forks are made`}
      description="Their machines start now. The next turn of each begins with a line that says which one it is."
      onClose={onClose}
      step="made"
    >
      <ul aria-label="Forks" className="flex flex-col gap-1.5">
        {data.map(({ id, name }) => (
          <li key={id}>
            <Link
              to={pathTo('/agents/$agentId/chat', id)}
              onClick={onClose}
              className="wrap-anywhere text-accent hover:underline"
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}
