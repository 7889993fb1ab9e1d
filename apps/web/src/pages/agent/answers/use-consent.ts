import { useEffect, useRef, useState } from 'react';

interface Started {
  readonly authorization_url: string;
}

export interface Consent {
  readonly begin: () => void;
  readonly isStarting: boolean;
  /** The address of the consent that somebody is at. */
  readonly address: string | undefined;
  /** Whether the browser let no window be opened: the person opens the address by a link. */
  readonly isBlocked: boolean;
  readonly error: unknown;
}

/**
 * A consent in a window of its own. The window is opened in the click, before its address is known, because browsers open
 * none later; it gets no handle of this page. It is closed, and this page goes on, when `isDone` is true and `mark`, which
 * says how the thing is, is another than when the consent began.
 */
export function useConsent(start: () => Promise<Started>, isDone: boolean, mark: string): Consent {
  const [address, setAddress] = useState<string>();
  const [isStarting, setStarting] = useState(false);
  const [isBlocked, setBlocked] = useState(false);
  const [error, setError] = useState<unknown>();
  const opened = useRef<Window | null>(null);
  const begunWith = useRef(mark);
  useEffect(() => {
    if (!isDone || mark === begunWith.current) return;
    opened.current?.close();
    opened.current = null;
    setAddress(undefined);
  }, [isDone, mark]);

  const go = async (): Promise<void> => {
    setStarting(true);
    begunWith.current = mark;
    setError(undefined);
    opened.current?.close();
    const window_ = window.open('about:blank', '_blank');
    opened.current = window_;
    if (window_ !== null) window_.opener = null;
    setBlocked(window_ === null);
    try {
      const { authorization_url: url } = await start();
      setAddress(url);
      if (window_ !== null) window_.location.href = url;
    } catch (failure) {
      window_?.close();
      setError(failure);
    } finally {
      setStarting(false);
    }
  };
  return { begin: () => void go(), isStarting, address, isBlocked, error };
}
