import { useQuery } from '@tanstack/react-query';
import { abilitiesOf } from '@lodge/contract/words';
import type { Agent } from '@lodge/sdk';
import { ArrowDown } from 'lucide-react';
import { useCallback, useRef } from 'react';
import type { Ref } from 'react';
import { Button } from '../../../components/button.tsx';
import type { ShowFile } from '../../../components/markdown/safe-link.tsx';
import { useMay } from '../../../session.ts';
import { membersQuery } from '../members/queries.ts';
import { Beginning } from './beginning.tsx';
import type { ChatState, ChatStore } from './chat-store.ts';
import { Composer } from './writing/composer.tsx';
import type { ComposerHandle, ComposerProps, Message } from './writing/composer.tsx';
import { isRunning, newConversationId } from './conversation.ts';
import type { Turn } from './conversation.ts';
import { Spoken } from './spoken.tsx';
import { TurnView } from './turn-view.tsx';
import { useDrop } from './writing/use-drop.ts';
import { useStickToEnd } from './use-stick-to-end.ts';

interface ConversationViewProps {
  readonly agent: Agent;
  readonly store: ChatStore;
  readonly state: ChatState;
  /** Undefined: one that begins with the first message. */
  readonly id: string | undefined;
  /** The member that is spoken to at first. */
  readonly member: string | undefined;
  readonly file: ShowFile;
  readonly onBegun: (id: string) => void;
}

const noTurns: readonly Turn[] = [];

/** A conversation with the agent, and where the next message is written. */
export function ConversationView(props: ConversationViewProps) {
  const { agent, store, state, id, file, onBegun } = props;
  const maySpeak = useMay('agents:chat');
  const turns = (id === undefined ? undefined : state.turns[id]) ?? noTurns;
  const running = turns.some(isRunning);
  const list = useRef<HTMLOListElement>(null);
  const composer = useRef<ComposerHandle>(null);
  const { isAtEnd, toEnd } = useStickToEnd(list, turns.length === 0);
  const { dragging, ...drop } = useDrop(maySpeak, (files) => composer.current?.addFiles(files));
  const asleep = agent.status === 'paused' || agent.status === 'stopped';
  const again = useCallback(
    (turnId: string) => {
      if (id !== undefined) store.again(id, turnId, asleep);
    },
    [store, id, asleep],
  );
  const say = ({ said, files, member }: Message): void => {
    const to = id ?? newConversationId();
    store.say(to, { said, files, member, asleep });
    if (id === undefined) onBegun(to);
    toEnd();
  };
  return (
    <div
      {...drop}
      className="relative -mb-16 flex min-h-[calc(100dvh-18rem)] grow flex-col gap-6 lg:min-h-[calc(100dvh-13.5rem)]"
    >
      {turns.length === 0 ? (
        <Beginning agent={agent} isKnown={id !== undefined} onSuggestion={(text) => composer.current?.write(text)} />
      ) : (
        <ol ref={list} aria-label="Conversation" className="flex flex-col gap-8">
          {turns.map((turn) => (
            <TurnView
              key={turn.id}
              turn={turn}
              agentName={agent.name}
              file={file}
              onAgain={maySpeak && !running ? again : undefined}
            />
          ))}
        </ol>
      )}
      <Spoken turn={turns.at(-1)} />
      <div className="sticky bottom-0 z-10 mt-auto flex flex-col gap-2 bg-canvas pt-2 pb-4">
        {!isAtEnd && turns.length > 0 && <ToEnd onClick={toEnd} />}
        <Writing
          composer={composer}
          agent={agent}
          draftKey={id ?? 'new'}
          member={turns.at(-1)?.member ?? props.member ?? null}
          running={running}
          hint={hintOf(asleep, running && !store.isRunning(id ?? ''))}
          onSend={say}
          onStop={store.isRunning(id ?? '') ? () => store.stop(id ?? '') : undefined}
        />
      </div>
      {dragging && <DropHere />}
    </div>
  );
}

function hintOf(asleep: boolean, isElsewhere: boolean): string | undefined {
  if (isElsewhere) return 'Another tab of this browser waits for the answer.';
  return asleep ? 'The agent sleeps. Your message wakes it.' : undefined;
}

interface WritingProps extends Pick<ComposerProps, 'draftKey' | 'member' | 'running' | 'hint' | 'onSend' | 'onStop'> {
  readonly composer: Ref<ComposerHandle>;
  readonly agent: Agent;
}

function Writing({ composer, agent, ...props }: WritingProps) {
  const maySpeak = useMay('agents:chat');
  const { hasMembers } = abilitiesOf(agent.runtime_kind);
  const { data: members = [] } = useQuery({ ...membersQuery(agent.id), enabled: hasMembers });
  if (!maySpeak) return <p className="text-center text-muted">Your role may read, and not talk to agents.</p>;
  return (
    <Composer
      {...props}
      key={props.draftKey}
      ref={composer}
      agentId={agent.id}
      agentName={agent.name}
      members={members.map(({ name }) => name)}
    />
  );
}

function ToEnd({ onClick }: { onClick: () => void }) {
  return (
    <Button small onClick={onClick} className="absolute -top-10 self-center shadow-float">
      <ArrowDown aria-hidden className="size-4" />
      To the end
    </Button>
  );
}

function DropHere() {
  return (
    <div className="pointer-events-none absolute inset-0 z-20 flex items-center justify-center rounded-card border-2 border-dashed border-accent bg-accent-soft/90 font-medium text-accent">
      Drop files to put them into the workspace
    </div>
  );
}
