import '@xterm/xterm/css/xterm.css';
import { useQueryClient } from '@tanstack/react-query';
import { Check, ClipboardPaste, Copy, Ear, Lock, RotateCw } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '@lodge/sdk';
import { Button } from '../../../components/button.tsx';
import { useCopy } from '../../../components/copy-field.tsx';
import { cx } from '../../../components/cx.ts';
import { controlClass } from '../../../components/form/field.tsx';
import { Notice, Reason } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { queries } from '../../../queries.ts';
import { useMay } from '../../../session.ts';
import { MachineGate } from '../machine-gate.tsx';
import { agentQuery, useAgent } from '../queries.ts';
import { LinkDialog } from './link-dialog.tsx';
import { terminalRoute } from '../routes.ts';
import type { ShellState } from './shell.ts';
import { useTerminal } from './use-terminal.ts';

/** A shell on the agent's machine. */
export function TerminalPage() {
  const agent = useAgent();
  const mayWrite = useMay('agents:write');
  return (
    <TabPage
      title="Terminal"
      description="A shell in the agent’s machine. It ends with this page; the agent stays awake while it is open."
      width="wide"
    >
      {mayWrite ? (
        <MachineGate agent={agent} what="a terminal">
          <TerminalPane agentId={agent.id} />
        </MachineGate>
      ) : (
        <div className="rounded-card border border-line bg-surface shadow-card">
          <EmptyState Icon={Lock} title="Not for your role">
            A terminal can change everything in the machine, so it takes the right to change agents.
          </EmptyState>
        </div>
      )}
    </TabPage>
  );
}

function TerminalPane({ agentId }: { agentId: string }) {
  const { user = 'agent' } = terminalRoute.useSearch();
  const [link, setLink] = useState<string>();
  const [isReadAloud, setIsReadAloud] = useState(readChoice);
  const tools = useRef<HTMLDivElement>(null);
  const { box, state, again, selection, paste, focus } = useTerminal({
    agentId,
    user,
    isReadAloud,
    onLink: setLink,
    onLeave: () => tools.current?.querySelector('button')?.focus(),
  });
  useChangedAgent(agentId, state);
  return (
    <div className="flex flex-col gap-3">
      <div ref={tools} role="group" aria-label="Terminal actions" className="flex flex-wrap items-center gap-2">
        <CopyPaste selection={selection} paste={paste} focus={focus} />
        <Button
          small
          aria-pressed={isReadAloud}
          onClick={() => setIsReadAloud(keepChoice(!isReadAloud))}
          className="aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
        >
          <Ear aria-hidden className="size-4" />
          Screen reader mode
        </Button>
        <UserChoice user={user} />
        <span className="text-[0.8125rem] text-muted max-lg:hidden">
          Tab goes to the shell; <kbd className="font-mono">Ctrl Shift ↑</kbd> leads out of it.
        </span>
      </div>
      <ShellNotice state={state} again={again} />
      <section
        aria-label="Shell"
        className="overflow-hidden rounded-card border border-line bg-surface p-2 shadow-card dark:bg-sunken"
      >
        <div ref={box} className="h-[calc(100dvh-25rem)] min-h-80" />
        <p role="status" className="flex items-center gap-2 px-1 pt-2 text-xs text-muted">
          <span aria-hidden className={cx('size-2 rounded-full', dots[state.kind])} />
          {words[state.kind]}
        </p>
      </section>
      {link !== undefined && <LinkDialog url={link} onClose={() => setLink(undefined)} />}
    </div>
  );
}

const dots: Readonly<Record<ShellState['kind'], string>> = {
  connecting: 'bg-control',
  open: 'bg-accent',
  cut: 'bg-danger',
  ended: 'bg-control',
  asleep: 'bg-control',
  failed: 'bg-danger',
};
const words: Readonly<Record<ShellState['kind'], string>> = {
  connecting: 'Opening a shell…',
  open: 'Connected',
  cut: 'The connection was lost. Opening another shell…',
  ended: 'The shell has ended',
  asleep: 'The machine does not run',
  failed: 'No shell',
};

function ShellNotice({ state, again }: { state: ShellState; again: () => void }) {
  if (state.kind === 'open') {
    if (!state.isAnother) return null;
    return (
      <Notice kind="warning">
        The connection was cut, and what ran in the shell ended with it. This is a new shell; the output of the one
        before is still above.
      </Notice>
    );
  }
  if (state.kind === 'ended') {
    return (
      <Ended again={again}>
        {state.exitCode === null ? 'The shell was ended.' : `The shell has ended, with code ${state.exitCode}.`}
      </Ended>
    );
  }
  if (state.kind === 'asleep') return <Ended again={again}>The machine stopped, and the shell with it.</Ended>;
  if (state.kind === 'failed')
    return (
      <Ended again={again}>
        <Reason error={state.error} />
      </Ended>
    );
  return null;
}

function Ended({ children, again }: { children: React.ReactNode; again: () => void }) {
  return (
    <Notice kind="info">
      <span className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <span role="status">{children}</span>
        <Button small onClick={again}>
          <RotateCw aria-hidden className="size-4" />
          Start another
        </Button>
      </span>
    </Notice>
  );
}

interface CopyPasteProps {
  readonly selection: () => string;
  readonly paste: (text: string) => void;
  readonly focus: () => void;
}

function CopyPaste({ selection, paste, focus }: CopyPasteProps) {
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  // A page without TLS has no clipboard to read; the keys still paste there.
  const mayPaste = window.isSecureContext && 'clipboard' in navigator;
  return (
    <>
      <Button
        small
        // The selection is gone with the focus.
        onMouseDown={(event) => event.preventDefault()}
        onClick={(event) => {
          const text = selection();
          if (text !== '') copy(text, event.currentTarget);
        }}
      >
        <Icon aria-hidden className="size-4" />
        {copied ? 'Copied' : 'Copy selection'}
      </Button>
      {mayPaste && (
        <Button
          small
          onClick={() => {
            void navigator.clipboard.readText().then(
              (text) => {
                paste(text);
                focus();
              },
              // The person said no to the browser's question.
              () => undefined,
            );
          }}
        >
          <ClipboardPaste aria-hidden className="size-4" />
          Paste
        </Button>
      )}
    </>
  );
}

function UserChoice({ user }: { user: 'agent' | 'root' }) {
  const navigate = terminalRoute.useNavigate();
  return (
    <select
      aria-label="User of the shell"
      value={user}
      onChange={({ target }) =>
        void navigate({ search: target.value === 'root' ? { user: 'root' } : {}, replace: true })
      }
      className={cx(controlClass, 'h-8! w-auto! px-2 text-[0.8125rem]!')}
    >
      <option value="agent">as the agent’s user</option>
      <option value="root">as root (in the audit log)</option>
    </select>
  );
}

/** The page above learns at once of what the shell found out: the machine stopped, or the session ended. */
function useChangedAgent(agentId: string, state: ShellState): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (state.kind === 'asleep') void queryClient.invalidateQueries(agentQuery(agentId));
    if (state.kind === 'failed' && state.error instanceof ApiError && state.error.status === 401) {
      void queryClient.invalidateQueries(queries.session);
    }
  }, [agentId, state, queryClient]);
}

const choiceKey = 'lodge-terminal-read-aloud';

function readChoice(): boolean {
  try {
    return localStorage.getItem(choiceKey) === 'yes';
  } catch {
    return false;
  }
}

function keepChoice(isReadAloud: boolean): boolean {
  try {
    localStorage.setItem(choiceKey, isReadAloud ? 'yes' : 'no');
  } catch {
    // It holds while the page is open.
  }
  return isReadAloud;
}
