import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Monitor, Smartphone } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { SessionRecord } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { focusHeading } from '../../components/form/focus.ts';
import { Failure } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { queries } from '../../queries.ts';
import { deviceOf } from './device.ts';

export function SessionsSection() {
  const queryClient = useQueryClient();
  const sessions = useQuery(queries.sessions);
  const [endingAll, setEndingAll] = useState(false);
  const others = sessions.data?.filter(({ current }) => !current).length ?? 0;
  const ended = (words: string): void => {
    toast(words);
    void queryClient.invalidateQueries(queries.sessions);
  };
  return (
    <Section
      title="Sessions"
      description="Browsers in which you are signed in."
      actions={others > 0 && <Button onClick={() => setEndingAll(true)}>Sign out all others</Button>}
    >
      <Loaded query={sessions}>
        {(data) => (
          <ul className="divide-y divide-line">
            {data.toSorted(byRecency).map((session) => (
              <SessionRow key={session.id} session={session} onEnded={() => ended('The session has ended.')} />
            ))}
          </ul>
        )}
      </Loaded>
      {endingAll && (
        <ConfirmDialog
          title="Sign out everywhere else?"
          action="Sign out all others"
          run={api.endOtherSessions}
          onClose={() => setEndingAll(false)}
          onDone={() => ended('All other sessions have ended.')}
        >
          You stay signed in here; every other browser has to sign in again. API keys are not affected.
        </ConfirmDialog>
      )}
    </Section>
  );
}

function SessionRow({ session, onEnded }: { session: SessionRecord; onEnded: () => void }) {
  const end = useMutation({
    mutationFn: () => api.endSession(session.id),
    onSuccess: () => {
      focusHeading();
      onEnded();
    },
  });
  const device = deviceOf(session.user_agent);
  const Icon = device.mobile ? Smartphone : Monitor;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4 sm:px-6">
      <Icon aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="flex min-w-40 grow basis-0 flex-col gap-0.5">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {device.name}
          {session.current && <Badge tone="good">This browser</Badge>}
        </p>
        <p className="text-[0.8125rem] text-muted">
          {session.address} · {session.current ? 'signed in' : 'last seen'}{' '}
          <Time value={session.current ? session.created_at : session.last_seen_at} />
        </p>
      </div>
      {!session.current && (
        <Button
          small
          variant="ghost-danger"
          aria-label={`Sign out ${device.name}, ${session.address}`}
          pending={end.isPending}
          onClick={() => end.mutate()}
          className="-mr-3"
        >
          Sign out
        </Button>
      )}
      {end.error !== null && (
        <div className="basis-full">
          <Failure error={end.error} />
        </div>
      )}
    </li>
  );
}

const byRecency = (a: SessionRecord, b: SessionRecord): number =>
  Number(b.current) - Number(a.current) || Date.parse(b.last_seen_at) - Date.parse(a.last_seen_at);
