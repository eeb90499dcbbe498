// What outlives a reload of the page, in the storage of its own tab.

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
    // the storage is full or closed: the value lasts as long as the page
  }
}
