/** Input of a person in Chromium's protocol. Each of these commands needs the control of the browser. */
import type { CdpPage } from '../cdp/page.ts';
import type { ViewMessage } from './messages.ts';

type Input = Extract<ViewMessage, { readonly type: 'mouse' | 'wheel' | 'key' | 'text' | 'go' | 'act' | 'dialog' }>;

export function dispatch(page: CdpPage, input: Input): void {
  switch (input.type) {
    case 'mouse': {
      const { kind, x, y, button, buttons, clicks, modifiers } = input;
      const pressed = { button, buttons, clickCount: clicks };
      return void page.send('Input.dispatchMouseEvent', { type: kind, x, y, ...pressed, modifiers });
    }
    case 'wheel': {
      const { x, y, dx: deltaX, dy: deltaY, modifiers } = input;
      return void page.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX, deltaY, modifiers });
    }
    case 'key': {
      const { kind, key, code, keyCode, text, modifiers } = input;
      const codes = { windowsVirtualKeyCode: keyCode, nativeVirtualKeyCode: keyCode };
      const typed = kind === 'keyDown' && text !== '' ? { text, unmodifiedText: text } : {};
      return void page.send('Input.dispatchKeyEvent', { type: kind, key, code, ...codes, ...typed, modifiers });
    }
    case 'text':
      return void page.send('Input.insertText', { text: input.text });
    case 'dialog':
      return void page.send('Page.handleJavaScriptDialog', { accept: input.accept, promptText: input.text });
    case 'go': {
      const url = webAddressOf(input.url);
      return url === null ? undefined : void page.send('Page.navigate', { url });
    }
    case 'act':
      if (input.what === 'reload') return void page.send('Page.reload');
      return page.goInHistory(input.what === 'back' ? -1 : 1);
  }
}

/** The address of a page of the web, also without its scheme as people type it; null for any other scheme. */
function webAddressOf(typed: string): string | null {
  const text = typed.trim();
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0];
  // A number behind the colon is a port.
  const isWhole = scheme !== undefined && !/\d/.test(text.charAt(scheme.length));
  const url = isWhole ? text : `https://${text}`;
  if (!URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
