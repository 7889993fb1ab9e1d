import type { Agent } from '@lodge/sdk';
import { MessageCircle } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';

const suggestions = [
  'What can you do for me?',
  'What is in your workspace?',
  'Write a short introduction of yourself to hello.md.',
] as const;

interface BeginningProps {
  readonly agent: Agent;
  /** Whether the address names a conversation. */
  readonly isKnown: boolean;
  readonly onSuggestion: (text: string) => void;
}

/** Stands in place of a conversation before its first message. */
export function Beginning({ agent, isKnown, onSuggestion }: BeginningProps) {
  const maySpeak = useMay('agents:chat');
  return (
    <div className="flex grow flex-col justify-center">
      <EmptyState
        Icon={MessageCircle}
        title={isKnown ? 'Nothing of it is kept here' : `Talk to ${agent.name.slice(0, 60)}`}
      >
        {isKnown
          ? 'This browser has nothing of this conversation. The agent may remember it: go on, and it will tell.'
          : 'Ask something, hand over work, or drop files here. Tools that the agent uses are shown as it works.'}
        {maySpeak && !isKnown && (
          <ul className="flex flex-wrap justify-center gap-2 pt-5">
            {suggestions.map((words) => (
              <li key={words}>
                <Button small onClick={() => onSuggestion(words)}>
                  {words}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </EmptyState>
    </div>
  );
}
