import { useEffect, useRef, useState } from 'react';
import { Notice } from '../../../components/notice.tsx';
import { text } from '../../../components/form/use-form.ts';
import { checkTimes, timingOf, whenWords } from './times.ts';

/** The sentence of the times that a form says now, where they are right. */
function wordsOf(form: HTMLFormElement): string {
  const data = new FormData(form);
  if (Object.keys(checkTimes(data)).length > 0) return '';
  const timing = timingOf(data);
  return timing.cron === undefined ? `${whenWords(timing)}.` : `${whenWords(timing)}, ${text(data, 'time_zone')} time.`;
}

/** The meaning of the times in the form around it. */
export function Meaning() {
  const ref = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState('');
  useEffect(() => {
    const form = ref.current?.closest('form');
    if (form == null) return;
    const look = (): void => setWords(wordsOf(form));
    // The fields of another choice are there in the next frame.
    const onInput = (): void => void requestAnimationFrame(look);
    look();
    form.addEventListener('input', onInput);
    return () => form.removeEventListener('input', onInput);
  }, []);
  return (
    <div ref={ref} role="status" aria-label="What this means">
      {words !== '' && <Notice kind="info">{words}</Notice>}
    </div>
  );
}
