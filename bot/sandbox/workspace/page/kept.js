// Values that survive a page reload, in sessionStorage.

export function kept(name, otherwise) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) || otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // storage is full or blocked: the value lasts until the page closes
  }
}
