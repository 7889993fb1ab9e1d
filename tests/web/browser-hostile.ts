/** Pages that want to get out of the browser in which an agent opens them. */
interface Places {
  /** The address of the view. */
  readonly view: string;
  readonly api: string;
  /** The debugging port of the browser itself. */
  readonly cdp: string;
}

interface HostilePage {
  readonly name: string;
  readonly html: string;
}

const script = (name: string, code: string): HostilePage => ({ name, html: `<!doctype html><script>${code}</script>` });
/** Tells of what it got; nothing where it got nothing. */
const tell = `const tell = (what) => fetch('/told?' + encodeURIComponent(what));`;
/** A text within a script. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('</', '<\\/');
const markup = '<img src=x onerror=window.pwned=1><script>window.pwned=1</script>';

export const hostilePages = ({ view, api, cdp }: Places): readonly HostilePage[] => [
  script('a title of markup', `document.title = ${quoted(markup)}`),
  script('a title that turns text', `document.title = '\\u202Eevil\\u2066\\n\\u0000\\uD800'`),
  script('a title of a million characters', `document.title = 'x'.repeat(1e6)`),
  script(
    'an address of markup',
    `history.replaceState(0, '', '#' + encodeURI('"><img src=x onerror=window.pwned=1>'))`,
  ),
  script('an address of a million characters', `history.replaceState(0, '', '#' + 'x'.repeat(1e6))`),
  script('an address of three megabytes of data', `location = 'data:text/html,' + 'x'.repeat(1.9e6)`),
  script('an alert of three million characters', `alert('x'.repeat(3e6))`),
  script('alerts without end', `for (;;) alert('pay now')`),
  script('a prompt of markup', `prompt(${quoted(markup)}, 'x')`),
  script('a page that does not let go', `onbeforeunload = () => 'stay'; setInterval(() => location.reload(), 300)`),
  script('windows without end', `setInterval(() => open('/0', '_blank'), 20)`),
  script('a window that wants its opener', `${tell} if (opener) tell('opener'); parent.postMessage('x', '*')`),
  script('a script without end', `setTimeout(() => { for (;;); }, 100)`),
  script(
    'pictures that do not pack, as fast as they come',
    `document.write('<canvas width=1280 height=900>');
    const pen = document.querySelector('canvas').getContext('2d');
    const noise = pen.createImageData(1280, 900);
    (function draw() {
      for (let at = 0; at < noise.data.length; at += 16384)
        crypto.getRandomValues(noise.data.subarray(at, at + 16384));
      for (let at = 3; at < noise.data.length; at += 4) noise.data[at] = 255;
      pen.putImageData(noise, 0, 0);
      requestAnimationFrame(draw);
    })();`,
  ),
  { name: 'a page without measure', html: '<!doctype html><div style="width:9999999px;height:9999999px">x</div>' },
  script(
    'frames without measure',
    `for (let n = 0; n < 300; n += 1) document.documentElement.append(document.createElement('iframe'))`,
  ),
  script('a search through history', `setInterval(() => history.pushState(0, '', '?' + Math.random()), 1)`),
  script(
    'requests to the view',
    `${tell} for (const path of ['', 'view.js', 'socket', '_lodge/link?token=x'])
      fetch(${JSON.stringify(view)} + path, { credentials: 'include' }).then((r) => tell('view ' + r.status), () => 0);
    const socket = new WebSocket(${JSON.stringify(view.replace('http', 'ws'))} + 'socket');
    socket.onopen = () => tell('socket');`,
  ),
  script(
    'the view in a frame',
    `document.write('<iframe src=${view} onload="try { fetch(\\'/told?\\' + this.contentDocument.querySelector(\\'#screen\\').id) } catch {}"></iframe>')`,
  ),
  script(
    'requests to the API',
    `${tell} fetch(${JSON.stringify(api)} + '/v1/agents').then((r) => r.text()).then((t) => tell('api ' + t), () => 0);`,
  ),
  script(
    'the debugging port of its own browser',
    `${tell} fetch(${JSON.stringify(cdp)} + '/json/list').then((r) => r.text()).then((t) => tell('cdp ' + t), () => 0);
    const socket = new WebSocket(${JSON.stringify(cdp.replace('http', 'ws'))} + '/devtools/browser');
    socket.onopen = () => tell('cdp socket');`,
  ),
  script('the whole screen', `setInterval(() => document.documentElement.requestFullscreen?.().catch(() => 0), 100)`),
];
