/**
 * The document as xterm.js may use it. It writes <style> elements and style attributes, which the pages' content security policy
 * forbids, because text of a guest that became one could restyle the page. Here its style elements fill style sheets of the
 * document, and its style attributes are set property by property: scripts of ours may do both.
 */

import type { Terminal } from '@xterm/xterm';

export interface StyleDocument {
  readonly document: Document;
  /** Removes the style sheets. */
  release(): void;
}

export function styleDocument(): StyleDocument {
  const sheets = new Set<CSSStyleSheet>();
  const drop = (sheet: CSSStyleSheet): void => {
    sheets.delete(sheet);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  };
  const create = (name: string): HTMLElement => {
    if (name === 'style') {
      const sheet = new CSSStyleSheet();
      sheets.add(sheet);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      return styleElement(sheet, () => drop(sheet));
    }
    const element = document.createElement(name);
    return name === 'span' ? styledByProperties(element) : element;
  };
  // xterm.js takes only an instance of Document, and a document's own methods only work on the real one.
  const seen = new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return create;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  return {
    document: seen,
    release: () => {
      for (const sheet of sheets) drop(sheet);
    },
  };
}

/** Stands where the <style> would: its text is the sheet's. */
function styleElement(sheet: CSSStyleSheet, drop: () => void): HTMLElement {
  const element = document.createElement('span');
  element.hidden = true;
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text);
    },
    get: () => '',
  });
  element.remove = () => {
    drop();
    Element.prototype.remove.call(element);
  };
  return element;
}

function styledByProperties(element: HTMLElement): HTMLElement {
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

/** Parts inside xterm.js that take the page's document whatever they are told. The package is pinned to a version that has them. */
interface Inside {
  readonly _core?: {
    readonly onWillOpen?: (listener: () => void) => void;
    readonly _coreBrowserService?: { mainDocument?: Document };
    readonly _renderService?: {
      readonly _renderer?: { readonly value?: { readonly _rowFactory?: { _document?: Document } } };
    };
  };
}

/** Opens a terminal, all of whose parts use this document. */
export function openWith({ document: seen }: StyleDocument, terminal: Terminal, element: HTMLElement): void {
  const core = (terminal as unknown as Inside)._core;
  core?.onWillOpen?.(() => {
    const service = core._coreBrowserService;
    if (service !== undefined) service.mainDocument = seen;
  });
  terminal.open(element);
  const rows = core?._renderService?._renderer?.value?._rowFactory;
  if (rows?._document === undefined || core?._coreBrowserService?.mainDocument !== seen) {
    throw new TypeError('This version of xterm.js uses the document in another way.');
  }
  rows._document = seen;
}
