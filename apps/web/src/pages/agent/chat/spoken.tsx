import { useState } from 'react';
import { isRunning, textOf } from './conversation.ts';
import type { Turn } from './conversation.ts';

const maxSpoken = 2000;

/** Tells a screen reader how the last turn is, and its answer once it is whole. */
export function Spoken({ turn }: { turn: Turn | undefined }) {
  const [first] = useState(turn?.id);
  const [wasRunning, setWasRunning] = useState(false);
  const running = turn !== undefined && isRunning(turn);
  if (running && !wasRunning) setWasRunning(true);
  const isNew = turn !== undefined && (turn.id !== first || wasRunning);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {isNew && (running ? 'The agent is at work.' : wordsOf(turn))}
    </p>
  );
}

function wordsOf(turn: Turn): string {
  const text = textOf(turn).slice(0, maxSpoken);
  switch (turn.state) {
    case 'done':
      return `Answer: ${text}`;
    case 'stopped':
      return 'The answer was stopped.';
    // Their notices are read out by themselves.
    case 'cut':
    case 'failed':
    case 'waking':
    case 'working':
      return '';
  }
}
